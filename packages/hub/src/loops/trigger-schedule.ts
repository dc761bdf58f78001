import type { HubDeps } from '../start/hub-deps.ts';
import { fireDueSchedules, type ScheduleResult } from '../triggers/fire-schedules.ts';
import { createLoop, type Loop } from './loop.ts';

/** The finest step of a schedule is a minute, so a second of delay does not matter. */
const SCHEDULE_INTERVAL_MS = 1_000;
const DUE_MAX = 100;

/** Fires the schedules whose next slot is due. */
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
