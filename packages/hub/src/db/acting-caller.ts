import { AsyncLocalStorage } from 'node:async_hooks';
import type { Beneficiary } from '../base/fair-line.ts';
import type { Tx } from './engine.ts';

/** Checks, within an action, that its caller may still act. Throws the refusal. */
type WriteGuard = (tx: Tx) => Promise<void>;

/** The part of a request's caller that matters to the database. */
interface ActingCaller {
  /** Tells callers apart, such as tokens: each has an equal share of the database. */
  readonly key: string;
  /** The workspace that it works in; callers of one share its part of the time. */
  readonly workspaceId: string | null;
  /** Precedes each action of the request, within its transaction. */
  readonly guard: WriteGuard | null;
  /** Whether the request reads so much that others must not wait for all of it. */
  readonly isLongRead: boolean;
}

const callers = new AsyncLocalStorage<ActingCaller>();

/**
 * Runs a request on behalf of its caller. What the request asks of the database is then guarded and
 * shared out by caller. No operation has to pass the caller on, so none can forget it.
 */
export function actFor<T>(caller: ActingCaller, run: () => T): T {
  return callers.run(caller, run);
}

/** The caller of the request; undefined for work of the hub itself. */
export function actingCaller(): ActingCaller | undefined {
  return callers.getStore();
}

/** The one that the work is for, as a line of waiting work tells them apart. */
export function actingBeneficiary(): Beneficiary {
  const { workspaceId = null, key = '' } = actingCaller() ?? {};
  return { workspace: workspaceId ?? '', caller: key };
}
