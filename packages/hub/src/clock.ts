/** Time and timers, injected so that tests turn the clock by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Calls once after `delayMs`; the answer takes the call back. */
  schedule(delayMs: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  schedule(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Times of now are written again and again: as many milliseconds as these are kept as text. */
const RECENT_TEXTS = 256;
const recentTimes = new Float64Array(RECENT_TEXTS).fill(Number.NaN);
const recentTexts = new Array<string>(RECENT_TEXTS).fill('');

/** The wire form of a time: RFC 3339 in UTC. */
export function timestampOf(timeMs: number): string {
  const at = timeMs & (RECENT_TEXTS - 1);
  if (recentTimes[at] === timeMs) return recentTexts[at] as string;
  const text = new Date(timeMs).toISOString();
  recentTimes[at] = timeMs;
  recentTexts[at] = text;
  return text;
}

export function nullableTimestampOf(timeMs: number | null): string | null {
  return timeMs === null ? null : timestampOf(timeMs);
}
