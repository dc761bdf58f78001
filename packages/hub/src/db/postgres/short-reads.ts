import { type Beneficiary, FairLine } from '../../base/fair-line.ts';
import type { Session, Sessions } from './postgres-session.ts';

/** Reads that a connection has been sent and has not answered. */
const READS_MAX = 16;
/** How long further reads join a connection. Then another waiter of the pool may have it. */
export const JOINED_MS = 20;

/** A connection that several reads use at the same time. */
interface Pipeline {
  readonly session: Promise<Session>;
  readonly openedMs: number;
  reads: number;
}

/**
 * Sends short reads over few connections without waiting for the answers before. With a connection
 * for each, a read would wait for a free one, and a connection would serve one read in each turn of
 * the event loop. When many are under way, the others wait, and their callers have turns.
 */
export class ShortReads {
  readonly #sessions: Sessions;
  readonly #pipelinesMax: number;
  #pipelines: readonly Pipeline[] = [];
  #underWay = 0;
  readonly #waiting = new FairLine<() => void>();

  constructor(sessions: Sessions, pipelinesMax: number) {
    this.#sessions = sessions;
    this.#pipelinesMax = pipelinesMax;
  }

  /** @throws what the read throws; HubError UNAVAILABLE when no connection can be made. */
  async run<T>(reader: Beneficiary, read: (session: Session) => Promise<T>): Promise<T> {
    if (this.#underWay < this.#pipelinesMax * READS_MAX) this.#underWay += 1;
    else await new Promise<void>((resolve) => this.#waiting.add(reader, resolve));
    try {
      return await this.#send(read);
    } finally {
      const next = this.#waiting.next();
      if (next === undefined) this.#underWay -= 1;
      else next();
      this.#waiting.charge(1);
    }
  }

  async #send<T>(read: (session: Session) => Promise<T>): Promise<T> {
    const pipeline = this.#choose();
    pipeline.reads += 1;
    try {
      return await read(await pipeline.session);
    } catch (error) {
      // The connection may be broken, which the reads that it still has find out by themselves.
      this.#leave(pipeline);
      throw error;
    } finally {
      pipeline.reads -= 1;
      if (pipeline.reads === 0) {
        this.#leave(pipeline);
        // A connection that was not made has told each of its reads.
        void pipeline.session.then(
          (session) => session.release(),
          () => undefined,
        );
      }
    }
  }

  /** The connection with the fewest reads, or a new one. */
  #choose(): Pipeline {
    const nowMs = performance.now();
    const joinable = this.#pipelines.filter(({ openedMs }) => nowMs - openedMs < JOINED_MS);
    const [least] = joinable.toSorted((a, b) => a.reads - b.reads);
    if (least !== undefined && joinable.length >= this.#pipelinesMax) return least;
    const pipeline = { session: this.#sessions.acquire(), openedMs: nowMs, reads: 0 };
    this.#pipelines = [...joinable, pipeline];
    return pipeline;
  }

  #leave(pipeline: Pipeline): void {
    this.#pipelines = this.#pipelines.filter((other) => other !== pipeline);
  }
}
