import { Cron } from 'croner';
import { invalidField } from '../errors.ts';

/** Slots that were missed are counted up to here; beyond, it is as many or more. */
export const MISSED_SLOTS_MAX = 1_000;
const FIELDS = 5;

export interface Schedule {
  cron: string;
  timeZone: string;
}

/** Parsed, without a timer of its own: the hub's clock decides. */
function parse({ cron, timeZone }: Schedule): Cron {
  return new Cron(cron, { timezone: timeZone, mode: '5-part', paused: true });
}

/** The first slot after a time, in ms; null when there is none (any more). */
export function nextSlot(schedule: Schedule, afterMs: number): number | null {
  return parse(schedule).nextRun(new Date(afterMs))?.getTime() ?? null;
}

/** How many slots there are after one and up to a time. */
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
 * Refuses what is no schedule, or one that never comes.
 * @throws HubError INVALID_REQUEST
 */
export function checkSchedule(schedule: Schedule, nowMs: number): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: schedule.timeZone });
  } catch {
    throw invalidField('/timeZone', 'is no time zone: send an IANA name such as Europe/Berlin');
  }
  const fields = schedule.cron.trim().split(/\s+/);
  if (fields.length !== FIELDS) {
    throw invalidField('/cron', `takes ${FIELDS} fields: minute, hour, day, month, day of week`);
  }
  let next: number | null;
  try {
    next = nextSlot(schedule, nowMs);
  } catch (cause) {
    throw invalidField('/cron', `cannot be read (${(cause as Error).message})`);
  }
  if (next === null) throw invalidField('/cron', 'names a time that never comes');
}
