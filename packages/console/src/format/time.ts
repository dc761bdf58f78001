const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Beyond this limit a date is clearer than a number of days. */
const RELATIVE_MAX_MS = 30 * DAY_MS;

const dateFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});
const absoluteFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
});
const minuteFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const dayMinuteFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const clockFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/**
 * Formats a time relative to now: `12 s ago`, `in 3 min`, `5 d ago`; a date beyond thirty days. The
 * clocks of browser and hub differ slightly, so a few seconds around now are `just now`.
 */
export function formatRelative(at: string, nowMs: number): string {
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return at;
  const distanceMs = Math.abs(nowMs - atMs);
  if (distanceMs < 5 * SECOND_MS) return 'just now';
  if (distanceMs > RELATIVE_MAX_MS) return dateFormat.format(atMs);
  // Rounded ahead, so that what was just given seven days reads `in 7 d`.
  return atMs > nowMs
    ? `in ${largestUnit(distanceMs, Math.round)}`
    : `${largestUnit(distanceMs, Math.floor)} ago`;
}

/** Formats a time in the reader's time zone, with its name: `2 Nov 2026, 09:00:00 UTC`. */
export function formatAbsolute(at: string): string {
  const atMs = Date.parse(at);
  return Number.isNaN(atMs) ? at : absoluteFormat.format(atMs);
}

/** Formats hours, minutes and seconds: `09:00:12`. */
export function formatClock(at: string): string {
  const atMs = Date.parse(at);
  return Number.isNaN(atMs) ? at : clockFormat.format(atMs);
}

/** Formats a time as `14:02`, with its date if that is another day than now. */
export function formatMoment(at: string, nowMs: number): string {
  const atMs = Date.parse(at);
  return Number.isNaN(atMs) ? at : formatSince(atMs, nowMs);
}

/** Formats a time as `14:02`, with its date if that is another day than now. */
export function formatSince(atMs: number, nowMs: number): string {
  const isToday = dateFormat.format(atMs) === dateFormat.format(nowMs);
  return (isToday ? minuteFormat : dayMinuteFormat).format(atMs);
}

/** Formats a duration with at most two units: `850 ms`, `4.2 s`, `3 min 5 s`, `3 d 4 h`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < SECOND_MS) return `${Math.max(0, Math.round(durationMs))} ms`;
  if (durationMs < 10 * SECOND_MS) return `${(durationMs / SECOND_MS).toFixed(1)} s`;
  if (durationMs < MINUTE_MS) return `${Math.floor(durationMs / SECOND_MS)} s`;
  if (durationMs < HOUR_MS) return pairOf(durationMs, MINUTE_MS, 'min', SECOND_MS, 's');
  if (durationMs < DAY_MS) return pairOf(durationMs, HOUR_MS, 'h', MINUTE_MS, 'min');
  return pairOf(durationMs, DAY_MS, 'd', HOUR_MS, 'h');
}

/** Formats remaining minutes and seconds, never below zero: `9:05`. */
export function formatCountdown(remainingMs: number): string {
  const seconds = Math.max(0, Math.ceil(remainingMs / SECOND_MS));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function largestUnit(durationMs: number, toWhole: (amount: number) => number): string {
  const seconds = toWhole(durationMs / SECOND_MS);
  const minutes = toWhole(durationMs / MINUTE_MS);
  const hours = toWhole(durationMs / HOUR_MS);
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min`;
  return hours < 24 ? `${hours} h` : `${toWhole(durationMs / DAY_MS)} d`;
}

function pairOf(
  durationMs: number,
  bigMs: number,
  bigWord: string,
  smallMs: number,
  smallWord: string,
): string {
  const big = Math.floor(durationMs / bigMs);
  const small = Math.floor((durationMs % bigMs) / smallMs);
  return small === 0 ? `${big} ${bigWord}` : `${big} ${bigWord} ${small} ${smallWord}`;
}
