import type { HubDeps } from '../hub-deps.ts';
import { fireDueSchedules, type ScheduleResult } from '../triggers/schedule-actions.ts';
import { createLoop, type Loop } from './loop.ts';

/** A schedule's finest step is a minute: a second late is on time. */
const SCHEDULE_INTERVAL_MS = 1_000;
const DUE_MAX = 100;

/** Fires schedules when their slots come. */
export function createTriggerSchedule(
  deps: HubDeps,
  onError: (error: unknown) => void,
): Loop<ScheduleResult> {
  return createLoop({
    name: 'trigger-schedule',
    intervalMs: SCHEDULE_INTERVAL_MS,
    clock: deps.clock,
    work: () => fireDueSchedules(deps, DUE_MAX),
    hasMore: ({ due }) => due === DUE_MAX,
    onError,
  });
}
