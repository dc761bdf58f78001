import type { HubDeps } from '../start/hub-deps.ts';
import { handOverDueAnswers } from '../uncertainties/hand-over-due.ts';
import { createLoop, type Loop } from './loop.ts';

/** People wait for this one after each answer. */
const HAND_OVER_INTERVAL_MS = 500;
const DUE_MAX = 100;

/** Hands over the answers that can no longer be withdrawn. */
export function createHandOvers(deps: HubDeps, onError: (error: unknown) => void): Loop<number> {
  return createLoop({
    name: 'hand-overs',
    intervalMs: HAND_OVER_INTERVAL_MS,
    clock: deps.clock,
    work: () => handOverDueAnswers(deps, DUE_MAX),
    hasMore: (due) => due === DUE_MAX,
    onError,
  });
}
