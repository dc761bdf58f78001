import { performance } from 'node:perf_hooks';

/** After this time, the memory that only the start needed is garbage. */
const AFTER_START_MS = 5_000;
/** The collection takes about 60 ms, so it waits until the event loop is less busy than this. */
const QUIET_SHARE = 0.05;

/**
 * Frees the memory that only the start needed: a few seconds later, as soon as the hub is idle. V8
 * itself keeps the memory of loading code, a sixth of the process, as long as the hub gets no
 * requests (docs/decisions/0017).
 *
 * Does nothing if Node runs without `--expose-gc`.
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
