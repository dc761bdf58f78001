import { HubError } from '../errors.ts';

/** Lists of one caller under way at a time, each until its answer was taken by the client. */
export const LISTS_MAX = 4;
/** Lists of one caller that wait for their turn: more than a console has open. */
export const LISTS_WAITING_MAX = 60;
const RETRY_AFTER_MS = 1_000;

interface Caller {
  underWay: number;
  /** Each starts a waiting list. */
  waiting: (() => void)[];
}

/**
 * Bounds how many lists each caller has under way. A page is short, but a client that asks for many
 * and reads none would otherwise fill the hub's memory with answers.
 */
export class ListSlots {
  readonly #callers = new Map<string, Caller>();

  /**
   * Waits for the caller's turn.
   * @returns ends the list; call it once.
   * @throws HubError RATE_LIMITED
   */
  async take(callerId: string): Promise<() => void> {
    const caller = this.#callers.get(callerId) ?? { underWay: 0, waiting: [] };
    this.#callers.set(callerId, caller);
    if (caller.underWay < LISTS_MAX) {
      caller.underWay += 1;
    } else {
      if (caller.waiting.length >= LISTS_WAITING_MAX) {
        const message = `At most ${LISTS_MAX} lists run at a time; read their answers first.`;
        throw new HubError('RATE_LIMITED', message, { retryAfterMs: RETRY_AFTER_MS });
      }
      // The list that ends hands its slot over, so `underWay` stays.
      await new Promise<void>((resolve) => caller.waiting.push(resolve));
    }
    return () => this.#end(callerId, caller);
  }

  #end(callerId: string, caller: Caller): void {
    const next = caller.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    caller.underWay -= 1;
    if (caller.underWay === 0) this.#callers.delete(callerId);
  }
}
