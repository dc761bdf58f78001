import { setImmediate as nextTurn } from 'node:timers/promises';

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
  #spentMs = 0;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Counts a statement that has run.
   * @returns resolves when its reader may continue; null: at once.
   */
  pauseAfter(tookMs: number): Promise<unknown> | null {
    if (tookMs < COUNTED_MS_MIN) return null;
    if (this.#spentMs === 0) {
      setImmediate(() => {
        this.#spentMs = 0;
      });
    }
    this.#spentMs += tookMs;
    if (this.#spentMs <= TURN_MS_MAX) return null;
    // One reader a turn, in order: each may run statements for as long again.
    this.#last = this.#last.then(() => nextTurn());
    return this.#last;
  }
}
