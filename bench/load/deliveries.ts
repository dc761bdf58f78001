import { setTimeout as wait } from 'node:timers/promises';
import { readField } from './answer-reader.ts';
import type { Connection, Target } from './connection.ts';
import { prepareRequests, type Queue, readClaim, requireOk } from './hub-calls.ts';
import type { LoadAgent } from './load-report.ts';
import type { Span } from './span.ts';

/** How long a claim waits; our own agents use the same time. */
const CLAIM_WAIT_MS = 25_000;
/** Time limit for the last jobs to be claimed and completed. */
const DRAIN_MS_MAX = 10_000;

/** The times of one job. The claim may be answered before the enqueue. */
interface Delivery {
  sentMs?: number;
  enqueuedMs?: number;
  claimedMs?: number;
}

/** Records the delivery of every enqueued job. */
export class Deliveries {
  readonly #byJob = new Map<string, Delivery>();
  completed = 0;

  noteEnqueued(jobId: string, sentMs: number, enqueuedMs: number): void {
    this.#byJob.set(jobId, { ...this.#byJob.get(jobId), sentMs, enqueuedMs });
  }

  noteClaimed(jobId: string, claimedMs: number): void {
    const known = this.#byJob.get(jobId);
    if (known?.claimedMs !== undefined) throw new Error(`${jobId} was granted twice`);
    this.#byJob.set(jobId, { ...known, claimedMs });
  }

  /** Latencies of the jobs that were sent during the measurement. */
  summarize(span: Span) {
    const delivery: number[] = [];
    const wholeWay: number[] = [];
    for (const [jobId, { sentMs, enqueuedMs, claimedMs }] of this.#byJob) {
      if (sentMs === undefined || enqueuedMs === undefined || claimedMs === undefined) {
        throw new Error(`${jobId} was not delivered`);
      }
      if (!span.holds(sentMs)) continue;
      delivery.push(Math.max(0, claimedMs - enqueuedMs));
      wholeWay.push(claimedMs - sentMs);
    }
    return { count: delivery.length, delivery, wholeWay };
  }

  /** Resolves when every job is completed. @throws if that takes too long. */
  async drain(): Promise<void> {
    const limitMs = performance.now() + DRAIN_MS_MAX;
    while (this.completed < this.#byJob.size) {
      if (performance.now() > limitMs) throw new Error('some jobs were not delivered in time');
      await wait(5);
    }
  }

  get count(): number {
    return this.#byJob.size;
  }
}

/** Returns a function that enqueues one job and records the time of the answer. */
export function prepareEnqueue(
  deliveries: Deliveries,
  queue: Queue,
  agent: LoadAgent,
  target: Target,
): (connection: Connection) => Promise<void> {
  const request = prepareRequests(queue, agent, target).enqueue;
  return async (connection) => {
    const sentMs = performance.now();
    const jobId = readField(await requireOk(connection, request, 'enqueue'), 'jobId');
    if (jobId === null) throw new Error('an enqueue was answered without a job');
    deliveries.noteEnqueued(jobId, sentMs, performance.now());
  };
}

/** Agents that wait for jobs and complete them immediately, until the end. */
export class Claimants {
  readonly #queue: Queue;
  readonly #deliveries: Deliveries;
  readonly #failed = Promise.withResolvers<never>();
  #isOver = false;

  constructor(queue: Queue, deliveries: Deliveries) {
    this.#queue = queue;
    this.#deliveries = deliveries;
    // `watch` reports the error; until then it must not count as unhandled.
    this.#failed.promise.catch(() => undefined);
  }

  /** @param firstWaitMs Spreads the times at which the claims of many agents time out. */
  add(connection: Connection, agent: LoadAgent, target: Target, firstWaitMs = CLAIM_WAIT_MS): void {
    this.#claimRepeatedly(connection, agent, target, firstWaitMs).catch((error: unknown) => {
      // Claims still waiting at the end are aborted by closing their connections.
      if (!this.#isOver) this.#failed.reject(error);
    });
  }

  /** The action's result, unless an agent fails first. */
  watch<T>(action: Promise<T>): Promise<T> {
    return Promise.race([this.#failed.promise, action]);
  }

  end(): void {
    this.#isOver = true;
  }

  async #claimRepeatedly(
    connection: Connection,
    agent: LoadAgent,
    target: Target,
    firstWaitMs: number,
  ): Promise<void> {
    const requests = prepareRequests(this.#queue, agent, target);
    const request = requests.claim(CLAIM_WAIT_MS);
    let next = requests.claim(firstWaitMs);
    while (!this.#isOver) {
      const claim = readClaim(await requireOk(connection, next, 'claim-next'));
      next = request;
      if (claim === null) continue;
      this.#deliveries.noteClaimed(claim.jobId, performance.now());
      await requireOk(connection, requests.complete(claim), 'complete');
      this.#deliveries.completed++;
    }
  }
}
