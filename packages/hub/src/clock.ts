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

/** The wire form of a time: RFC 3339 in UTC. */
export function timestampOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

export function nullableTimestampOf(timeMs: number | null): string | null {
  return timeMs === null ? null : timestampOf(timeMs);
}
