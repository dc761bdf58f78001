import { NO_WORKSPACE } from '../db/engine.ts';
import { DEVICE_KEPT_MS } from '../devices/policy.ts';
import { deleteOldCodeFailures, deleteOldDevices } from '../devices/store.ts';
import { deleteExpiredSessions } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

const LOGIN_RETENTION_INTERVAL_MS = 60_000;
const BATCH_MAX = 200;

/** Deletes console sessions that have expired and device logins that ended long ago. */
export function createLoginRetention(
  { database, clock }: Pick<HubDeps, 'database' | 'clock'>,
  onError: (error: unknown) => void,
): Loop<number> {
  return createLoop({
    name: 'login-retention',
    intervalMs: LOGIN_RETENTION_INTERVAL_MS,
    clock,
    work: () =>
      database.write(NO_WORKSPACE, async (tx) => {
        await deleteOldDevices(tx, tx.nowMs - DEVICE_KEPT_MS, BATCH_MAX);
        await deleteOldCodeFailures(tx, tx.nowMs - DEVICE_KEPT_MS);
        return deleteExpiredSessions(tx, { expiresAtMs: tx.nowMs, limit: BATCH_MAX });
      }),
    hasMore: (deleted) => deleted === BATCH_MAX,
    onError,
  });
}
