/*
 * Reads when a limit is reset from a tool's sentence. Claude Code names its time zone
 * ("resets 11:47am (UTC)", "resets Nov 26, 7pm (Europe/Berlin)"); Codex means that of the machine
 * ("try again at 7:39 PM", "try again at Nov 26th, 2026 7:49 PM").
 */

const said =
  /\b(?:resets|try again) (?:at )?(?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d\d))? ?([ap])m\b(?: \(([\w+\-/]+)\))?/i;
const waits = /\btry again in ((?:\d+ (?:day|hour|minute|second)s?,? ?(?:and )?)+)/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const unitMs: Readonly<Record<string, number>> = {
  ...{ day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000 },
};
/** Tools leave out the seconds: the limit is reset within the minute that they name. */
const MINUTE_MS = 60_000;
/** A time of day that has passed by less than this is of today: the sentence was late. */
const LATE_MS = 60 * MINUTE_MS;

/** The end of the minute in which the limit is reset; undefined: the sentence names no time. */
export function readResetTime(sentence: string, nowMs: number): number | undefined {
  const [, wait] = waits.exec(sentence) ?? [];
  if (wait !== undefined) return nowMs + durationOf(wait);
  const [, month, day, year, hours, minutes = '0', half, zone] = said.exec(sentence) ?? [];
  if (hours === undefined) return undefined;
  const now = zonedNow(nowMs, zone);
  const time = {
    hour: (Number(hours) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0),
    minute: Number(minutes),
  };
  if (month === undefined) {
    const today = endOfMinute(now.with(time));
    return today < nowMs - LATE_MS ? endOfMinute(now.add({ days: 1 }).with(time)) : today;
  }
  const place = months.indexOf(month.toLowerCase());
  if (place < 0) return undefined;
  const date = { ...time, month: place + 1, day: Number(day) };
  const found = now.with({ ...date, year: Number(year ?? now.year) });
  // Around New Year the date without its year is of the next one.
  const isPast = year === undefined && endOfMinute(found) < nowMs - 86_400_000;
  return endOfMinute(isPast ? found.add({ years: 1 }) : found);
}

function zonedNow(nowMs: number, zone: string | undefined): Temporal.ZonedDateTime {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  try {
    return now.toZonedDateTimeISO(zone ?? Temporal.Now.timeZoneId());
  } catch {
    // An abbreviation that is no zone; that of the machine is the best guess.
    return now.toZonedDateTimeISO(Temporal.Now.timeZoneId());
  }
}

function endOfMinute(time: Temporal.ZonedDateTime): number {
  return (
    time.with({ second: 0, millisecond: 0, microsecond: 0, nanosecond: 0 }).epochMilliseconds +
    MINUTE_MS
  );
}

function durationOf(text: string): number {
  return [...text.matchAll(/(\d+) (day|hour|minute|second)/gi)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit.toLowerCase()] ?? 0),
    0,
  );
}
