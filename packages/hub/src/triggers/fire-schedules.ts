import { assert } from '../base/errors.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { fireForSlot } from './fire.ts';
import { countMissed, nextSlot } from './schedule.ts';
import { claimSlot, listDueTriggers, type TriggerRow } from './store.ts';

export interface ScheduleResult {
  /** Schedules that were due. */
  due: number;
  /** Slots that this hub fired. */
  fired: number;
}

/**
 * Fires the schedules whose slot is due, each slot once among all hubs. When several slots passed
 * while no hub was running, only the first is fired; its firing and the job's first event record
 * how many were missed.
 */
export async function fireDueSchedules(deps: HubDeps, limit: number): Promise<ScheduleResult> {
  const nowMs = deps.clock.nowMs();
  const due = await listDueTriggers(deps.database.reader, nowMs, limit);
  let fired = 0;
  for (const trigger of due) if (await fireSlot(deps, trigger, nowMs)) fired += 1;
  return { due: due.length, fired };
}

async function fireSlot(deps: HubDeps, trigger: TriggerRow, nowMs: number): Promise<boolean> {
  const { cron, time_zone: timeZone, next_fire_at: slotMs } = trigger;
  assert(cron !== null && timeZone !== null && slotMs !== null, 'a schedule has its times');
  const schedule = { cron, timeZone };
  const missed = countMissed(schedule, slotMs, nowMs);
  const next = nextSlot(schedule, nowMs);
  return deps.database.write(trigger.workspace_id, async (tx) => {
    if (!(await claimSlot(tx, trigger, next))) return false;
    await fireForSlot(deps, tx, trigger, { slotMs, missed });
    return true;
  });
}
