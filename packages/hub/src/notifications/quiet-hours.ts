import type { QuietHours } from '@signalbox/contract';
import { appendAccountAudit } from '../audit/append.ts';
import { invalidField } from '../base/errors.ts';
import { type Principal, personIdOf } from '../base/principal.ts';
import { type PersonRow, updatePerson } from '../people/store.ts';
import { writeAccount } from '../people/write-account.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { releaseHeld } from './store.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/**
 * Sets the quiet hours of the person, in all workspaces. What waits for the former ones is due, and
 * is held again if it is quiet now.
 *
 * @throws HubError INVALID_REQUEST
 */
export async function setQuietHours(
  { database }: Pick<HubDeps, 'database'>,
  principal: Principal,
  quietHours: QuietHours | null,
): Promise<QuietHours | null> {
  if (quietHours !== null && quietHours.from === quietHours.until) {
    throw invalidField('/quietHours/until', 'must be another time than from');
  }
  if (quietHours !== null && !isTimeZone(quietHours.timeZone)) {
    throw invalidField('/quietHours/timeZone', 'must be an IANA name, such as Europe/Berlin');
  }
  const personId = personIdOf(principal);
  await writeAccount(database, personId, async (tx) => {
    const text = quietHours === null ? null : JSON.stringify(quietHours);
    await updatePerson(tx, personId, { quiet_hours: text });
    await releaseHeld(tx, personId, 'quiet-hours');
    await appendAccountAudit(tx, personId, {
      action: 'person.set-quiet-hours',
      subject: personId,
      data: { ...quietHours },
    });
  });
  return quietHours;
}

/** The quiet hours of a person; null: none. */
export function quietHoursOf({ quiet_hours: text }: PersonRow): QuietHours | null {
  // Written by `setQuietHours`.
  return text === null ? null : (JSON.parse(text) as QuietHours);
}

/** Why a notification waits for their end. */
export function describeHold({ until, timeZone }: QuietHours): string {
  return `Quiet hours until ${until} (${timeZone}).`;
}

/**
 * When the quiet hours end in which a time lies; null: it lies in none. An end that the clocks skip
 * in spring is an hour later.
 */
export function endOfQuiet(hours: QuietHours, nowMs: number): number | null {
  const [from, until] = [minutesOf(hours.from), minutesOf(hours.until)];
  const now = localMinutes(nowMs, hours.timeZone);
  const sinceBegin = (now - from + DAY_MINUTES) % DAY_MINUTES;
  if (sinceBegin >= (until - from + DAY_MINUTES) % DAY_MINUTES) return null;
  const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const endMs = minuteMs + ((until - now + DAY_MINUTES) % DAY_MINUTES) * MINUTE_MS;
  // The clocks may change before.
  const early = (until - localMinutes(endMs, hours.timeZone) + DAY_MINUTES) % DAY_MINUTES;
  const shift = early > DAY_MINUTES / 2 ? early - DAY_MINUTES : early;
  return endMs + shift * MINUTE_MS;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function localMinutes(atMs: number, timeZone: string): number {
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return minutesOf(new Intl.DateTimeFormat('en-GB', format).format(atMs));
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // It knows no such zone.
    return false;
  }
}
