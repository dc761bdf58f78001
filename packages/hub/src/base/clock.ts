import { invalidField } from './errors.ts';

/** Time and timers, injected so that tests can set the clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Calls `call` once after `delayMs`. The returned function cancels the call. */
  schedule(delayMs: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  schedule(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * Whether something that happened at a time is at most so old. After the clock was set back, ages
 * are negative and mean nothing, so they count as too old.
 */
export function isRecent(atMs: number, nowMs: number, ageMaxMs: number): boolean {
  const ageMs = nowMs - atMs;
  return ageMs >= 0 && ageMs <= ageMaxMs;
}

/** Formats a time for the wire: RFC 3339 in UTC. */
export function timestampOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

export function nullableTimestampOf(timeMs: number | null): string | null {
  return timeMs === null ? null : timestampOf(timeMs);
}

/**
 * Reads a timestamp of a request. Its schema has checked the form, but lets pass times that no
 * number of milliseconds represents, such as leap seconds.
 *
 * @param path of the field, as a JSON pointer.
 * @throws HubError INVALID_REQUEST
 */
export function readTimestamp(path: string, text: string): number {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) throw invalidField(path, 'must be a valid RFC 3339 timestamp');
  return timeMs;
}
