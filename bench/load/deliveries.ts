import { setTimeout as wait } from 'node:timers/promises';
import { readField } from './answer-reader.ts';
import type { Connection, Target } from './connection.ts';
import { prepareRequests, type Queue, readClaim, requireOk } from './hub-calls.ts';
import type { LoadAgent } from './load-report.ts';
import type { Span } from './span.ts';

/** How long a claim waits; our own agents wait as long. */
const CLAIM_WAIT_MS = 25_000;
/** For the last jobs to be claimed and completed. */
const DRAIN_MS_MAX = 10_000;

/** Of one job; the claim's answer may come before the enqueue's own. */
interface Delivery {
  sentMs?: number;
  enqueuedMs?: number;
  claimedMs?: number;
}

/** What became of every job that was enqueued. */
export class Deliveries {
  readonly #byJob = new Map<string, Delivery>();
  completed = 0;

  noteEnqueued(jobId: string, sentMs: number, enqueuedMs: number): void {
    this.#byJob.set(jobId, { ...this.#byJob.get(jobId), sentMs, enqueuedMs });
  }

  noteClaimed(jobId: string, claimedMs: number): void {
    const known = this.#byJob.get(jobId);
    if (known?.claimedMs !== undefined) throw new Error(`${jobId} was handed out twice`);
    this.#byJob.set(jobId, { ...known, claimedMs });
  }

  /** Latencies of the jobs that were sent within the measured time. */
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

  /** Resolves when every job was completed. @throws when that takes too long. */
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

/** A sending that enqueues one job and notes when it was answered. */
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
    if (jobId === null) throw new Error('an enqueue without a job');
    deliveries.noteEnqueued(jobId, sentMs, performance.now());
  };
}

/** Agents that wait for jobs, do nothing with them and complete them, until the end. */
export class Claimants {
  readonly #queue: Queue;
  readonly #deliveries: Deliveries;
  readonly #failed = Promise.withResolvers<never>();
  #isOver = false;

  constructor(queue: Queue, deliveries: Deliveries) {
    this.#queue = queue;
    this.#deliveries = deliveries;
    // Who watches hears of it; at other times it is no unhandled rejection.
    this.#failed.promise.catch(() => undefined);
  }

  /** @param firstWaitMs spreads the times at which claims of many agents run out. */
  add(connection: Connection, agent: LoadAgent, target: Target, firstWaitMs = CLAIM_WAIT_MS): void {
    this.#claimOnAndOn(connection, agent, target, firstWaitMs).catch((error: unknown) => {
      // A claim that is still parked at the end is cut off; that is how the end is made.
      if (!this.#isOver) this.#failed.reject(error);
    });
  }

  /** The action's outcome, unless an agent fails before. */
  watch<T>(action: Promise<T>): Promise<T> {
    return Promise.race([this.#failed.promise, action]);
  }

  end(): void {
    this.#isOver = true;
  }

  async #claimOnAndOn(
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
