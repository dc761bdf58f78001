import { type Beneficiary, FairLine } from '../../base/fair-line.ts';

/** How long the statements of one turn of the event loop may take together. */
const TURN_MS_MAX = 5;

/**
 * Spreads reads over turns of the event loop. A statement of SQLite runs to its end, and an `await`
 * of its result is no pause. Without this, all the searches and lists that were asked for in one
 * turn would run in it, before any other request has its turn.
 */
export class ReadPace {
  readonly #elapsedMs: () => number;
  readonly #waiting = new FairLine<() => void>();
  #spentMs = 0;
  #isTurnCounted = false;

  /** @param elapsedMs measures how long statements take; injected in tests. */
  constructor(elapsedMs: () => number = () => performance.now()) {
    this.#elapsedMs = elapsedMs;
  }

  /** Runs a statement: now, or when this turn is used up, in a later one, readers in turn. */
  run<T>(reader: Beneficiary, read: () => Promise<T>): Promise<T> {
    if (this.#spentMs <= TURN_MS_MAX) return this.#measure(read);
    return new Promise((resolve) => {
      this.#waiting.add(reader, () => resolve(this.#measure(read)));
    });
  }

  #measure<T>(read: () => Promise<T>): Promise<T> {
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true;
      setImmediate(() => this.#startTurn());
    }
    const beganMs = this.#elapsedMs();
    const rows = read();
    this.#spentMs += this.#elapsedMs() - beganMs;
    return rows;
  }

  #startTurn(): void {
    this.#spentMs = 0;
    this.#isTurnCounted = false;
    while (this.#spentMs <= TURN_MS_MAX) {
      const start = this.#waiting.next();
      if (start === undefined) return;
      const spentMs = this.#spentMs;
      start();
      this.#waiting.charge(this.#spentMs - spentMs);
    }
  }
}
