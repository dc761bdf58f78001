import type { Clock } from '../clock.ts';

/**
 * The one shape of every background loop. `runOnce` does a bounded piece of work and reports what
 * it did. The loop calls it again after its interval, or at once while there is more to do, and
 * never twice at a time. A failed piece is logged and tried again at the next tick: the work is in
 * the database, so nothing is lost.
 *
 * Of the hubs that share a database, only the leader works (`cluster/hub-group.ts`). A hub that
 * froze may finish its piece while another one leads already, so a piece must be safe to run twice
 * at a time: what it finds, it reads again in the action that changes it.
 */
export interface Loop<Result> {
  readonly name: string;
  /** @param isMine whether it is this hub that works, of those that share a database. */
  start(isMine?: () => boolean): void;
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

const REPORT_INTERVAL_MS = 60_000;

export function createLoop<Result>(options: LoopOptions<Result>): Loop<Result> {
  let cancelTimer: (() => void) | null = null;
  let underWay: Promise<void> | null = null;
  let stopped = false;
  let isMine = () => true;
  let reportedAtMs: number | null = null;

  async function tick(): Promise<void> {
    let again = false;
    try {
      again = isMine() && options.hasMore(await options.work());
      reportedAtMs = null;
    } catch (error) {
      report(error);
    }
    underWay = null;
    if (!stopped) schedule(again ? 0 : options.intervalMs);
  }

  /** A database that is away fails every loop at every tick: that is worth saying now and then. */
  function report(error: unknown): void {
    const nowMs = options.clock.nowMs();
    if (reportedAtMs !== null && nowMs - reportedAtMs < REPORT_INTERVAL_MS) return;
    reportedAtMs = nowMs;
    options.onError(error);
  }

  function schedule(delayMs: number): void {
    cancelTimer = options.clock.schedule(delayMs, () => {
      underWay = tick();
    });
  }

  return {
    name: options.name,
    start(isOwn = () => true) {
      isMine = isOwn;
      schedule(options.intervalMs);
    },
    runOnce: options.work,
    async stop() {
      stopped = true;
      cancelTimer?.();
      await underWay;
    },
  };
}
