/** Waits, or rejects with the signal's reason when it aborts. Tests inject their own. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** The maximum of `setTimeout`. A longer time would fire at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

export const sleepOnTimer: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.min(ms, TIMER_MS_MAX),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
