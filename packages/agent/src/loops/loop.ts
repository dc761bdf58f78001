import type { Clock } from '../clock.ts';

/** One shape for every loop of the agent: read one, know all. */
export interface Loop {
  /** Runs the next round now, or right after the one that is running. */
  wake(): void;
  /**
   * Ends the loop after the round that is running. Stopping a loop is not cancelling what it
   * looks after: a round is told by its signal that it should hurry, and decides itself what
   * must still be finished.
   */
  stop(): Promise<void>;
}

/** Returned by a round that has nothing to do until `wake` is called. */
export const UNTIL_WOKEN_MS = Number.POSITIVE_INFINITY;

export interface LoopOptions {
  clock: Clock;
  /**
   * One round. Returns how long to wait before the next, in milliseconds. Trouble with the hub is
   * handled inside; whatever it throws is a defect.
   */
  runOnce(signal: AbortSignal): Promise<number>;
  /** Told of a defect, once; the loop has ended then. */
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
