import type { Clock } from '../clock.ts';

/** The common interface of all agent loops. */
export interface Loop {
  /** Runs the next round now, or right after the current one. */
  wake(): void;
  /**
   * Ends the loop after the current round. This does not cancel the work the loop looks after: the
   * signal asks the round to finish soon, and the round decides what must still be completed.
   */
  stop(): Promise<void>;
}

/** Returned by a round that has nothing to do until `wake` is called. */
export const UNTIL_WOKEN_MS = Number.POSITIVE_INFINITY;

export interface LoopOptions {
  clock: Clock;
  /**
   * Runs one round. Returns the delay before the next, in milliseconds. Hub failures are handled
   * inside; anything it throws is a defect.
   */
  runOnce(signal: AbortSignal): Promise<number>;
  /** Called once if a round throws; the loop has then ended. */
  onDefect(error: unknown): void;
}

export function startLoop(options: LoopOptions): Loop {
  const stopping = new AbortController();
  let nap = new AbortController();
  let woken = false;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = false;
      const delayMs = await options.runOnce(stopping.signal);
      if (woken || stopping.signal.aborted) continue;
      nap = new AbortController();
      await options.clock.sleep(delayMs, nap.signal);
    }
  }

  const ended = run().catch(options.onDefect);
  return {
    wake() {
      woken = true;
      nap.abort();
    },
    stop() {
      stopping.abort();
      nap.abort();
      return ended;
    },
  };
}

/** Lets callers wait for a condition, which is checked again after each change. */
export function createChangeSignal() {
  const waiters = new Set<() => void>();
  return {
    notify() {
      for (const waiter of [...waiters]) waiter();
    },
    async until(condition: () => boolean): Promise<void> {
      if (condition()) return;
      await new Promise<void>((resolve) => {
        const waiter = () => {
          if (!condition()) return;
          waiters.delete(waiter);
          resolve();
        };
        waiters.add(waiter);
      });
    },
  };
}
