/** Long reads that one caller may have under way: more would only wait for the event loop. */
const READS_MAX = 8;
/** Further ones that wait for their turn, with their bodies unread. */
const WAITING_MAX = 120;

interface Caller {
  busy: number;
  waiting: (() => void)[];
}

/**
 * Limits the long reads that one caller has under way. Each may hold a megabyte until its client
 * has read the answer; the others wait in line, so that agents which share a token are not refused.
 */
export class ReadSlots {
  readonly #callers = new Map<string, Caller>();

  /**
   * Waits for a slot.
   * @returns frees the slot; null: too many wait already.
   */
  async enter(key: string): Promise<(() => void) | null> {
    let caller = this.#callers.get(key);
    if (caller === undefined) {
      caller = { busy: 0, waiting: [] };
      this.#callers.set(key, caller);
    }
    if (caller.busy < READS_MAX) {
      caller.busy += 1;
    } else {
      if (caller.waiting.length >= WAITING_MAX) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      caller.waiting.push(resolve);
      await promise;
    }
    return () => this.#leave(key, caller);
  }

  /** Hands the slot to the caller's next read, or frees it. */
  #leave(key: string, caller: Caller): void {
    const next = caller.waiting.shift();
    if (next === undefined) caller.busy -= 1;
    else next();
    if (caller.busy === 0) this.#callers.delete(key);
  }
}
