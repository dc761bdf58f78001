import { NO_WORKSPACE } from '../db/engine.ts';
import { DEVICE_KEPT_MS } from '../devices/policy.ts';
import { deleteOldCodeFailures, deleteOldDevices } from '../devices/store.ts';
import { USED_KEPT_MS } from '../oauth/policy.ts';
import { deleteEndedClients, deleteOldSecrets } from '../oauth/store.ts';
import { deleteExpiredSessions } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

const LOGIN_RETENTION_INTERVAL_MS = 60_000;
const BATCH_MAX = 200;

/** Deletes expired sessions, and device logins, OAuth secrets and OAuth clients that have ended. */
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
        await deleteOldSecrets(tx, tx.nowMs - USED_KEPT_MS, BATCH_MAX);
        await deleteEndedClients(tx, BATCH_MAX);
        return deleteExpiredSessions(tx, { expiresAtMs: tx.nowMs, limit: BATCH_MAX });
      }),
    hasMore: (deleted) => deleted === BATCH_MAX,
    onError,
  });
}
