import { type Beneficiary, FairLine } from '../base/fair-line.ts';

/** How much of the calls that begin in one turn of the event loop may take together. */
export const TURN_MS = 5;

interface WaitingCall {
  costMs: number;
  chargedMs: number;
  begin: () => void;
}

/**
 * Spreads the beginnings of calls over turns of the event loop. A turn reads the requests of all
 * connections, in no order that is fair: without this, each call that arrives waits until the
 * bodies of all others in the turn are parsed and handled. When the calls of a turn would take too
 * long, the others wait for a later one, and workspaces and their callers have turns (`FairLine`).
 */
export class CallTurns {
  readonly #line = new FairLine<WaitingCall>();
  readonly #onNextTurn: (run: () => void) => void;
  /** The time that the calls of this turn take. */
  #begunMs = 0;

  /** @param onNextTurn runs a function in the next turn; injected in tests. */
  constructor(onNextTurn: (run: () => void) => void = setImmediate) {
    this.#onNextTurn = onNextTurn;
  }

  /**
   * Takes a place for a call.
   *
   * @param costMs about how long the call keeps the event loop.
   * @param chargedMs what it costs its workspace and caller of their shares.
   * @returns resolves when the call may begin; null: at once.
   */
  enter(beneficiary: Beneficiary, costMs: number, chargedMs = costMs): Promise<void> | null {
    if (this.#line.length === 0 && this.#begunMs < TURN_MS) {
      this.#count(costMs);
      return null;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#line.add(beneficiary, { costMs, chargedMs, begin: resolve });
    return promise;
  }

  #count(costMs: number): void {
    if (this.#begunMs === 0) this.#onNextTurn(() => this.#startTurn());
    this.#begunMs += costMs;
  }

  #startTurn(): void {
    this.#begunMs = 0;
    while (this.#begunMs < TURN_MS) {
      const call = this.#line.next();
      if (call === undefined) return;
      this.#line.charge(call.chargedMs);
      this.#count(call.costMs);
      call.begin();
    }
  }
}
