import { type Beneficiary, FairLine } from '../../fair-line.ts';

/** How long the statements of one turn of the event loop may take together. */
const TURN_MS_MAX = 10;
/** A statement that takes less, such as reading a row by its key, never waits. */
const COUNTED_MS_MIN = 0.25;

/**
 * Spreads reads over turns of the event loop. A statement of SQLite runs to its end, and an `await`
 * of its result is no pause. Without this, a search of a hundred statements would run in one turn,
 * and the searches of a caller one after the other, before any other request has its turn.
 */
export class ReadPace {
  readonly #waiting = new FairLine<() => void>();
  #spentMs = 0;

  /**
   * Counts a statement that has run for a caller.
   * @returns resolves when its reader may continue; null: at once.
   */
  pauseAfter(tookMs: number, reader: Beneficiary): Promise<void> | null {
    if (tookMs < COUNTED_MS_MIN) return null;
    if (this.#spentMs === 0) {
      setImmediate(() => {
        this.#spentMs = 0;
      });
    }
    this.#spentMs += tookMs;
    if (this.#spentMs <= TURN_MS_MAX) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#waiting.length === 0) setImmediate(() => this.#continueNext());
    this.#waiting.add(reader, resolve);
    return promise;
  }

  /** Continues one reader a turn, callers in turn: each may run statements for as long again. */
  #continueNext(): void {
    this.#waiting.next()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#continueNext());
  }
}
