import { FairLine } from '../../base/fair-line.ts';
import { actingBeneficiary } from '../acting-caller.ts';
import type { WaitingAction } from './run-transaction.ts';

/**
 * The actions of a scope that wait for its exclusive lock. Callers have turns, since they share the
 * scope of what belongs to no workspace with strangers. Actions to be restarted precede the others.
 */
export class ExclusiveLine {
  readonly #line = new FairLine<WaitingAction>();
  readonly #restarts: WaitingAction[] = [];
  #isLatestFromLine = false;

  get length(): number {
    return this.#line.length + this.#restarts.length;
  }

  /** Adds an action of the current caller. */
  add(action: WaitingAction): void {
    this.#line.add(actingBeneficiary(), action);
  }

  restart(actions: readonly WaitingAction[]): void {
    this.#restarts.push(...actions);
  }

  /** Takes the next action. Call `charge` when it has ended. */
  next(): WaitingAction | undefined {
    const restarted = this.#restarts.shift();
    this.#isLatestFromLine = restarted === undefined;
    return restarted ?? this.#line.next();
  }

  /** Charges the time of the latest action to its caller. */
  charge(tookMs: number): void {
    if (this.#isLatestFromLine) this.#line.charge(tookMs);
  }
}
