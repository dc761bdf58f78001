/** Upper bound of the first delay; doubles with each consecutive failure. */
const BACKOFF_BASE_MS = 500;
const BACKOFF_MAX_MS = 30_000;

/**
 * Delays after failures, with full jitter, so that agents that failed together do not retry
 * together.
 */
export interface Backoff {
  /** The delay after another failure. `retryAfterMs` comes from the hub and is a lower bound. */
  nextDelayMs(retryAfterMs?: number): number;
  /** Call it after a success. */
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
