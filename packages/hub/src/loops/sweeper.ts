import { OUTAGE_GRACE_MS } from '@signalbox/contract';
import { deleteOldKeys } from '../idempotency/store.ts';
import type { JobDeps } from '../jobs/deps.ts';
import { RECOVERIES_MAX, recoverExpiredLeases } from '../jobs/recovery-actions.ts';
import { extendExpired } from '../queue/queue-store.ts';
import { createLoop, type Loop } from './loop.ts';

/** An expired lease is to be reclaimed within 2 s; a quarter of that leaves room for load. */
const SWEEP_INTERVAL_MS = 500;
const DUE_MAX = 500;
const RETENTION_INTERVAL_MS = 60_000;
const OLD_KEYS_MAX = 1_000;

export interface SweepResult {
  recovered: number;
  promoted: number;
}

/** Takes back expired leases and makes delayed jobs claimable, in all workspaces. */
export function createSweeper(deps: JobDeps, onError: (error: unknown) => void): Loop<SweepResult> {
  return createLoop({
    name: 'sweeper',
    intervalMs: SWEEP_INTERVAL_MS,
    clock: deps.clock,
    work: () =>
      deps.database.write(null, async (tx) => ({
        recovered: await recoverExpiredLeases(deps, tx, null),
        promoted: await deps.queue.promoteDue(tx, null, DUE_MAX),
      })),
    hasMore: ({ recovered, promoted }) => recovered === RECOVERIES_MAX || promoted === DUE_MAX,
    onError,
  });
}

/** Forgets idempotency keys past their time. */
export function createKeyRetention(
  deps: Pick<JobDeps, 'database' | 'clock'>,
  onError: (error: unknown) => void,
): Loop<number> {
  return createLoop({
    name: 'key-retention',
    intervalMs: RETENTION_INTERVAL_MS,
    clock: deps.clock,
    work: () => deps.database.write(null, (tx) => deleteOldKeys(tx, OLD_KEYS_MAX)),
    hasMore: (deleted) => deleted === OLD_KEYS_MAX,
    onError,
  });
}

/**
 * Gives leases that ran out while no hub was up a little longer, so that their agents can reach
 * the hub again (contract, section 4). Runs once, before the hub answers.
 *
 * @returns how many leases were extended.
 */
export function graceExpiredLeases({ database }: Pick<JobDeps, 'database'>): Promise<number> {
  return database.write(null, (tx) => extendExpired(tx, OUTAGE_GRACE_MS));
}
