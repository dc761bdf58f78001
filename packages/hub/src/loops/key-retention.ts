import { NO_WORKSPACE } from '../db/engine.ts';
import { deleteOldKeys, hasOldKeys } from '../idempotency/answer-once.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

const KEY_RETENTION_INTERVAL_MS = 60_000;
const OLD_KEYS_MAX = 1_000;

/** Deletes idempotency keys that are older than their retention. */
export function createKeyRetention(
  deps: Pick<HubDeps, 'database' | 'clock'>,
  onError: (error: unknown) => void,
): Loop<number> {
  return createLoop({
    name: 'key-retention',
    intervalMs: KEY_RETENTION_INTERVAL_MS,
    clock: deps.clock,
    async work() {
      if (!(await hasOldKeys(deps.database.reader, deps.clock.nowMs()))) return 0;
      return deps.database.write(NO_WORKSPACE, (tx) => deleteOldKeys(tx, OLD_KEYS_MAX));
    },
    hasMore: (deleted) => deleted === OLD_KEYS_MAX,
    onError,
  });
}
