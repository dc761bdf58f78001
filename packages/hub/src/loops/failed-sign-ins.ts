import type { FailedSignIns } from '../people/failed-sign-ins.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

const RECORD_INTERVAL_MS = 60_000;

/** Records the sign-ins that failed at this hub, a last time when it stops. Runs on every hub. */
export function createFailedSignIns(
  {
    database,
    clock,
    failedSignIns,
  }: Pick<HubDeps, 'database' | 'clock'> & { failedSignIns: FailedSignIns },
  onError: (error: unknown) => void,
): Loop<number> {
  const loop = createLoop({
    name: 'failed-sign-ins',
    intervalMs: RECORD_INTERVAL_MS,
    clock,
    work: () => failedSignIns.record(database),
    hasMore: () => false,
    onError,
  });
  return {
    ...loop,
    async stop() {
      await loop.stop();
      await failedSignIns.record(database).catch(onError);
    },
  };
}
