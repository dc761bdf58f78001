import { InvalidArgumentError } from 'commander';

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Parses a duration such as `90s`, `10m`, `1h30m` or `2d` to milliseconds.
 * @throws {InvalidArgumentError} anything else, including a number without a unit.
 */
export function parseDurationMs(text: string): number {
  if (!/^(?:\d+(?:ms|s|m|h|d))+$/.test(text)) {
    throw new InvalidArgumentError('It must be a time with a unit, such as 90s, 10m, 1h30m or 2d.');
  }
  let totalMs = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+)(ms|[smhd])/g)) {
    totalMs += Number(count) * (unitMs[unit] ?? 0);
  }
  if (!Number.isSafeInteger(totalMs)) throw new InvalidArgumentError('It must be a shorter time.');
  return totalMs;
}

/** Formats a duration with its one or two largest units: `12s`, `3m 20s`, `5h 2m`, `3d`. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(minutes, 'm', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return withRest(hours, 'h', minutes % 60, 'm');
  return `${Math.floor(hours / 24)}d`;
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit} ${rest}${restUnit}`;
}

/** Age in one unit, for a table. */
export function formatAge(at: string, nowMs: number): string {
  const [first = ''] = formatDuration(nowMs - Date.parse(at)).split(' ');
  return first;
}

/** Local time of day. */
export function formatClock(at: string | Date): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour12: false });
}

/** Local date and time. */
export function formatMoment(at: string): string {
  return `${new Date(at).toLocaleDateString('sv-SE')} ${formatClock(at)}`;
}

/** A local time without seconds, with its date unless that is today: `10:44`. */
export function formatUntil(at: string, nowMs = Date.now()): string {
  const clock = formatClock(at).slice(0, 5);
  const day = (time: string | number) => new Date(time).toLocaleDateString('sv-SE');
  return day(at) === day(nowMs) ? clock : `${day(at)} ${clock}`;
}
