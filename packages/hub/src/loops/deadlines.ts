import type { HubDeps } from '../start/hub-deps.ts';
import { resolveDueDecisions } from '../uncertainties/resolve-due.ts';
import { withdrawAbandoned } from '../uncertainties/session-questions.ts';
import { createLoop, type Loop } from './loop.ts';

/** People set deadlines in minutes or more, so a second of delay does not matter. */
const DEADLINE_INTERVAL_MS = 1_000;
const DUE_MAX = 100;

/**
 * Resolves overdue decision requests with their assumed value, if they opted in, and withdraws the
 * questions of sessions that do not wait any more.
 */
export function createDeadlines(deps: HubDeps, onError: (error: unknown) => void): Loop<number> {
  return createLoop({
    name: 'deadlines',
    intervalMs: DEADLINE_INTERVAL_MS,
    clock: deps.clock,
    work: async () =>
      Math.max(await resolveDueDecisions(deps, DUE_MAX), await withdrawAbandoned(deps, DUE_MAX)),
    hasMore: (due) => due === DUE_MAX,
    onError,
  });
}
