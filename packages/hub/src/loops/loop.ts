import type { Clock } from '../base/clock.ts';

/**
 * The shape of every background loop. `runOnce` does a bounded piece of work and returns what it
 * did. The loop calls it again after its interval, or immediately while there is more to do, and
 * never twice at a time. A failed piece is logged and retried at the next tick: the work is in the
 * database, so nothing is lost.
 *
 * Of the hubs that share a database, only the leader works (`cluster/hub-group.ts`). A hub that
 * froze may finish its piece while another one already leads, so a piece must be safe to run twice
 * at a time: it reads a row again in the action that changes it.
 */
export interface Loop<Result> {
  /** @param isLeader whether this hub works at the moment; absent: it always does. */
  start(isLeader?: () => boolean): void;
  /** Does one piece of work now; tests call it instead of waiting. */
  runOnce(): Promise<Result>;
  /** Resolves when the piece in progress has ended. */
  stop(): Promise<void>;
}

export interface LoopOptions<Result> {
  intervalMs: number;
  /** @param stopping aborts when the loop stops. */
  work: (stopping: AbortSignal) => Promise<Result>;
  /** Whether the piece reached its limit, so that the next should follow immediately. */
  hasMore: (result: Result) => boolean;
  /** Does what is left when the last piece has ended. */
  finish?: () => Promise<unknown>;
}

const REPORT_INTERVAL_MS = 60_000;

export function createLoop<Result>(
  { clock, onError }: { clock: Clock; onError: (error: unknown) => void },
  options: LoopOptions<Result>,
): Loop<Result> {
  let cancelTimer: (() => void) | null = null;
  let running: Promise<void> | null = null;
  const stopping = new AbortController();
  const { signal } = stopping;
  let mayWork = () => true;
  let reportedAtMs: number | null = null;

  async function tick(): Promise<void> {
    let again = false;
    try {
      again = mayWork() && options.hasMore(await options.work(signal));
      reportedAtMs = null;
    } catch (error) {
      report(error);
    }
    running = null;
    if (!signal.aborted) schedule(again ? 0 : options.intervalMs);
  }

  /** While the database is unavailable, every loop fails at every tick; most are not logged. */
  function report(error: unknown): void {
    const nowMs = clock.nowMs();
    if (reportedAtMs !== null && nowMs - reportedAtMs < REPORT_INTERVAL_MS) return;
    reportedAtMs = nowMs;
    onError(error);
  }

  function schedule(delayMs: number): void {
    cancelTimer = clock.schedule(delayMs, () => {
      running = tick();
    });
  }

  return {
    start(isLeader = () => true) {
      mayWork = isLeader;
      schedule(options.intervalMs);
    },
    runOnce: () => options.work(signal),
    async stop() {
      stopping.abort();
      cancelTimer?.();
      await running;
      await options.finish?.();
    },
  };
}
