import type { ArchiveDeps } from '../archive/archive-jobs.ts';
import {
  type JobRetentionResult,
  retireEndedJobs,
  type ScanPlaces,
} from '../archive/retire-jobs.ts';
import { NO_WORKSPACE } from '../db/engine.ts';
import { DEVICE_KEPT_MS } from '../devices/start-login.ts';
import { deleteOldCodeFailures, deleteOldDevices } from '../devices/store.ts';
import type { HubDeps } from '../hub-deps.ts';
import { forgetExpiredContent, type RetentionResult } from '../integrations/retention-actions.ts';
import { deleteExpiredSessions } from '../people/store.ts';
import { createLoop, type Loop } from './loop.ts';

/** Retention counts in days: a minute is soon enough, and many small pieces hold nobody up. */
const RETENTION_INTERVAL_MS = 60_000;
const BATCH_MAX = 200;
/** Each round looks at whatever ended long enough ago and is still needed, so not every minute. */
const JOB_RETENTION_INTERVAL_MS = 10 * 60_000;

/** Takes away what has been kept for as long as its workspace wants it kept. */
export function createContentRetention(
  deps: HubDeps,
  onError: (error: unknown) => void,
): Loop<RetentionResult> {
  return createLoop({
    name: 'content-retention',
    intervalMs: RETENTION_INTERVAL_MS,
    clock: deps.clock,
    work: () => forgetExpiredContent(deps, BATCH_MAX),
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}

/** Archives and takes away jobs that ended longer ago than their workspace wants them kept. */
export function createJobRetention(
  deps: ArchiveDeps,
  onError: (error: unknown) => void,
): Loop<JobRetentionResult> {
  const places: ScanPlaces = new Map();
  return createLoop({
    name: 'job-retention',
    intervalMs: JOB_RETENTION_INTERVAL_MS,
    clock: deps.clock,
    work: () => retireEndedJobs(deps, places),
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}

/** Forgets console sessions and device logins that ended long ago. */
export function createLoginRetention(
  { database, clock }: Pick<HubDeps, 'database' | 'clock'>,
  onError: (error: unknown) => void,
): Loop<number> {
  return createLoop({
    name: 'login-retention',
    intervalMs: RETENTION_INTERVAL_MS,
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
