/*
 * Reads when a limit is reset from a tool's sentence. Claude Code names its time zone
 * ("resets 11:47am (UTC)", "resets Nov 26, 7pm (Europe/Berlin)"); Codex means that of the machine
 * ("try again at 7:39 PM", "try again at Nov 26th, 2026 7:49 PM").
 */

/** Month, day and year, such as "Nov 26th, 2026 at ". */
const datePart = String.raw`(?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?`;
/** Hour, minute, half of the day and zone, such as "7:49 PM (UTC)". */
const timePart = String.raw`(\d{1,2})(?::(\d\d))? ?([ap])m\b(?: \(([\w+\-/]+)\))?`;
const said = new RegExp(String.raw`\b(?:resets|try again) (?:at )?${datePart}${timePart}`, 'i');
const waits = /\btry again in ((?:\d+ (?:day|hour|minute|second)s?,? ?(?:and )?)+)/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Tools leave out the seconds: the limit is reset within the minute that they name. */
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const unitMs: Readonly<Record<string, number>> = {
  day: DAY_MS,
  hour: HOUR_MS,
  minute: MINUTE_MS,
  second: 1_000,
};
/** A time of day that has passed by less than this is of today: the sentence was late. */
const LATE_MS = 60 * MINUTE_MS;

/** The end of the minute in which the limit is reset; undefined: the sentence names no time. */
export function readResetTime(sentence: string, nowMs: number): number | undefined {
  const [, wait] = waits.exec(sentence) ?? [];
  if (wait !== undefined) return nowMs + durationOf(wait);
  const [, month, day, year, hours, minutes = '0', half, named] = said.exec(sentence) ?? [];
  if (hours === undefined) return undefined;
  const zone = zoneOf(named);
  const today = new Date(nowMs + offsetMs(nowMs, zone));
  const hour = (Number(hours) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0);
  /** The months of JavaScript begin with 0. */
  const endOfMinute = (ofYear: number, ofMonth: number, ofDay: number) =>
    instantOf(Date.UTC(ofYear, ofMonth, ofDay, hour, Number(minutes)), zone) + MINUTE_MS;
  const thisYear = today.getUTCFullYear();
  if (month === undefined) {
    const date = today.getUTCDate();
    const found = endOfMinute(thisYear, today.getUTCMonth(), date);
    const isPast = found < nowMs - LATE_MS;
    return isPast ? endOfMinute(thisYear, today.getUTCMonth(), date + 1) : found;
  }
  const place = months.indexOf(month.toLowerCase());
  if (place < 0) return undefined;
  const found = endOfMinute(Number(year ?? thisYear), place, Number(day));
  // Around New Year the date without its year is of the next one.
  const isPast = year === undefined && found < nowMs - DAY_MS;
  return isPast ? endOfMinute(thisYear + 1, place, Number(day)) : found;
}

/** An abbreviation is no zone; that of the machine is the best guess. */
function zoneOf(named: string | undefined): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: named }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The instant at which the clocks of a zone show a time, which is given as if it were UTC. */
function instantOf(shownMs: number, zone: string | undefined): number {
  const nearMs = shownMs - offsetMs(shownMs, zone);
  return shownMs - offsetMs(nearMs, zone);
}

/** How far the clocks of a zone are ahead of UTC at an instant. */
function offsetMs(atMs: number, zone: string | undefined): number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  // Such as GMT-05:00; UTC itself is shown as GMT.
  const [, sign = '', hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(atMs)) ?? [];
  const ms = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS;
  return sign === '-' ? -ms : ms;
}

function durationOf(text: string): number {
  return [...text.matchAll(/(\d+) (day|hour|minute|second)/gi)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit.toLowerCase()] ?? 0),
    0,
  );
}
