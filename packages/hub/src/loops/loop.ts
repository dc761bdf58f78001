import type { Clock } from '../clock.ts';

/**
 * The one shape of every background loop. `runOnce` does a bounded piece of work and says what it
 * did; the loop calls it again after its interval, at once while there is more to do, and never
 * twice at a time. A failed piece is logged and tried again at the next tick: the work is in the
 * database, so nothing is lost by it.
 */
export interface Loop<Result> {
  readonly name: string;
  start(): void;
  /** One piece of work now; tests call it instead of waiting. */
  runOnce(): Promise<Result>;
  /** Ends after the piece under way. */
  stop(): Promise<void>;
}

export interface LoopOptions<Result> {
  name: string;
  intervalMs: number;
  clock: Clock;
  work: () => Promise<Result>;
  /** Whether the piece was cut short, so that the next should follow at once. */
  hasMore: (result: Result) => boolean;
  onError: (error: unknown) => void;
}

export function createLoop<Result>(options: LoopOptions<Result>): Loop<Result> {
  let cancelTimer: (() => void) | null = null;
  let underWay: Promise<void> | null = null;
  let stopped = false;

  async function tick(): Promise<void> {
    let again = false;
    try {
      again = options.hasMore(await options.work());
    } catch (error) {
      options.onError(error);
    }
    underWay = null;
    if (!stopped) schedule(again ? 0 : options.intervalMs);
  }

  function schedule(delayMs: number): void {
    cancelTimer = options.clock.schedule(delayMs, () => {
      underWay = tick();
    });
  }

  return {
    name: options.name,
    start: () => schedule(options.intervalMs),
    runOnce: options.work,
    async stop() {
      stopped = true;
      cancelTimer?.();
      await underWay;
    },
  };
}
