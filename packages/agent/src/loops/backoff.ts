/** First ceiling of the delay; doubles with every failure in a row. */
const BACKOFF_BASE_MS = 500;
const BACKOFF_MAX_MS = 30_000;

/** Delays after failures, with full jitter so that agents which failed together return apart. */
export interface Backoff {
  /** The delay after one more failure. `retryAfterMs` is the hub's own wish and a lower bound. */
  nextDelayMs(retryAfterMs?: number): number;
  /** To be called after a success. */
  reset(): void;
}

export function createBackoff(random: () => number): Backoff {
  let failures = 0;
  return {
    nextDelayMs(retryAfterMs = 0) {
      const ceilingMs = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** failures);
      failures = Math.min(failures + 1, 30);
      return retryAfterMs + random() * ceilingMs;
    },
    reset() {
      failures = 0;
    },
  };
}
