import type { UncertaintyDeps } from '../uncertainties/actions.ts';
import { resolveDueDecisions } from '../uncertainties/deadline-actions.ts';
import { createLoop, type Loop } from './loop.ts';

/** A deadline is a person's time: a second sooner or later is nothing to it. */
const DEADLINE_INTERVAL_MS = 1_000;
const DUE_MAX = 100;

/** Lets assumed values stand whose decision requests nobody answered in time. */
export function createDeadlines(
  deps: UncertaintyDeps,
  onError: (error: unknown) => void,
): Loop<number> {
  return createLoop({
    name: 'deadlines',
    intervalMs: DEADLINE_INTERVAL_MS,
    clock: deps.clock,
    work: () => resolveDueDecisions(deps, DUE_MAX),
    hasMore: (due) => due === DUE_MAX,
    onError,
  });
}
