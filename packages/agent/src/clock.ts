/** The agent's source of time. Tests inject their own. */
export interface Clock {
  /** Wall clock in milliseconds since 1970, for timestamps that people read. */
  nowMs(): number;
  /** Monotonic: never steps back or jumps. All lease deadlines use it. */
  monotonicMs(): number;
  /** Resolves after `ms`, or immediately when the signal fires. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that a Node.js timer supports; a longer one would fire immediately. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(done, Math.max(0, Math.min(ms, TIMER_MS_MAX)));
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** Resolves when the signal fires. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
