import { Cron } from 'croner';
import { invalidField } from '../base/errors.ts';

/** Missed slots are counted up to this limit, which means that many or more. */
export const MISSED_SLOTS_MAX = 1_000;
const FIELDS = 5;

export interface Schedule {
  cron: string;
  timeZone: string;
}

/** Parses a schedule without starting a timer: the hub's clock decides. */
function parse({ cron, timeZone }: Schedule): Cron {
  return new Cron(cron, { timezone: timeZone, mode: '5-part', paused: true });
}

/** Returns the first slot after a time, in ms. Null when no slot follows. */
export function nextSlot(schedule: Schedule, afterMs: number): number | null {
  return parse(schedule).nextRun(new Date(afterMs))?.getTime() ?? null;
}

/** Counts the slots after `slotMs` and up to `nowMs`. */
export function countMissed(schedule: Schedule, slotMs: number, nowMs: number): number {
  const cron = parse(schedule);
  let missed = 0;
  let next = cron.nextRun(new Date(slotMs));
  while (next !== null && next.getTime() <= nowMs && missed < MISSED_SLOTS_MAX) {
    missed += 1;
    next = cron.nextRun(next);
  }
  return missed;
}

/**
 * Refuses an invalid schedule, or one without a future slot.
 * @throws HubError INVALID_REQUEST
 */
export function checkSchedule(schedule: Schedule, nowMs: number): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: schedule.timeZone });
  } catch {
    throw invalidField('/timeZone', 'must be an IANA time zone such as Europe/Berlin');
  }
  const fields = schedule.cron.trim().split(/\s+/);
  if (fields.length !== FIELDS) {
    throw invalidField(
      '/cron',
      `must have ${FIELDS} fields: minute, hour, day, month, day of week`,
    );
  }
  let next: number | null;
  try {
    next = nextSlot(schedule, nowMs);
  } catch (cause) {
    throw invalidField('/cron', `must be a valid cron expression (${(cause as Error).message})`);
  }
  if (next === null) throw invalidField('/cron', 'must name a time that occurs');
}
