import { performance } from 'node:perf_hooks';

/** What a start needs only once is garbage by then. */
const AFTER_START_MS = 5_000;
/** The collection takes some 60 ms: it is made when less than this share of the time is used. */
const QUIET_SHARE = 0.05;

/**
 * Gives back what the start needed, a few seconds after it, or as soon as the hub has a quiet
 * moment. V8 by itself keeps the room that the loading of code took, a sixth of what the process
 * holds, for as long as nothing is asked of the hub (docs/decisions/0017).
 *
 * Nothing where Node runs without `--expose-gc`.
 */
export function giveBackStartMemory(
  loop: Pick<typeof performance, 'eventLoopUtilization'> = performance,
): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let before = loop.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = loop.eventLoopUtilization();
    const { utilization } = loop.eventLoopUtilization(now, before);
    before = now;
    if (utilization > QUIET_SHARE) return;
    clearInterval(timer);
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_START_MS);
  timer.unref();
}
