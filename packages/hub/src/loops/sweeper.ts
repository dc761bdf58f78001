import { NO_WORKSPACE } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import { deleteOldKeys, hasOldKeys } from '../idempotency/answer-once.ts';
import { RECOVERIES_MAX, recoverExpiredLeases } from '../jobs/recovery-actions.ts';
import { listDueWorkspaces } from '../queue/queue-store.ts';
import { createLoop, type Loop } from './loop.ts';

/** An expired lease is to be reclaimed within 2 s; a quarter of that leaves room for load. */
const SWEEP_INTERVAL_MS = 500;
const DUE_MAX = 500;
const WORKSPACES_MAX = 100;
const RETENTION_INTERVAL_MS = 60_000;
const OLD_KEYS_MAX = 1_000;

export interface SweepResult {
  recovered: number;
  promoted: number;
  /** Whether the next piece should follow at once. */
  hasMore: boolean;
}

/** Takes back expired leases and makes delayed jobs claimable, in all workspaces. */
export function createSweeper(deps: HubDeps, onError: (error: unknown) => void): Loop<SweepResult> {
  return createLoop({
    name: 'sweeper',
    intervalMs: SWEEP_INTERVAL_MS,
    clock: deps.clock,
    work: () => sweepWorkspaces(deps),
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}

/** Looks first, so that a hub with nothing due writes nothing and is in nobody's way. */
async function sweepWorkspaces(deps: HubDeps): Promise<SweepResult> {
  const { database, clock } = deps;
  const workspaceIds = await listDueWorkspaces(database.reader, clock.nowMs(), WORKSPACES_MAX);
  // Each in an action of its own: one that fails must not hold up the others.
  const ends = await Promise.allSettled(workspaceIds.map((id) => sweepWorkspace(deps, id)));
  const total: SweepResult = {
    recovered: 0,
    promoted: 0,
    hasMore: workspaceIds.length === WORKSPACES_MAX,
  };
  for (const end of ends) {
    if (end.status === 'rejected') throw end.reason;
    total.recovered += end.value.recovered;
    total.promoted += end.value.promoted;
    total.hasMore ||= end.value.hasMore;
  }
  return total;
}

function sweepWorkspace(deps: HubDeps, workspaceId: string): Promise<SweepResult> {
  return deps.database.write(workspaceId, async (tx) => {
    const recovered = await recoverExpiredLeases(deps, tx, workspaceId);
    const promoted = await deps.queue.promoteDue(tx, workspaceId, DUE_MAX);
    return {
      recovered,
      promoted,
      hasMore: recovered === RECOVERIES_MAX || promoted === DUE_MAX,
    };
  });
}

/** Forgets idempotency keys past their time. */
export function createKeyRetention(
  deps: Pick<HubDeps, 'database' | 'clock'>,
  onError: (error: unknown) => void,
): Loop<number> {
  return createLoop({
    name: 'key-retention',
    intervalMs: RETENTION_INTERVAL_MS,
    clock: deps.clock,
    async work() {
      if (!(await hasOldKeys(deps.database.reader, deps.clock.nowMs()))) return 0;
      return deps.database.write(NO_WORKSPACE, (tx) => deleteOldKeys(tx, OLD_KEYS_MAX));
    },
    hasMore: (deleted) => deleted === OLD_KEYS_MAX,
    onError,
  });
}
