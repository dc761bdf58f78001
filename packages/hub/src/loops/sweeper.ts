import { RECOVERIES_MAX, recoverExpiredLeases } from '../queue/leased-work.ts';
import { listDueWorkspaces } from '../queue/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

/** Expired leases must be recovered within 2 s; a quarter of that leaves room for load. */
const SWEEP_INTERVAL_MS = 500;
const DUE_MAX = 500;
const WORKSPACES_MAX = 100;

export interface SweepResult {
  recovered: number;
  promoted: number;
  /** Whether the next piece should follow immediately. */
  hasMore: boolean;
}

/** Recovers expired leases and promotes delayed jobs, in all workspaces. */
export function createSweeper(deps: HubDeps, onError: (error: unknown) => void): Loop<SweepResult> {
  return createLoop(
    { clock: deps.clock, onError },
    {
      intervalMs: SWEEP_INTERVAL_MS,
      work: () => sweepWorkspaces(deps),
      hasMore: ({ hasMore }) => hasMore,
    },
  );
}

/** Reads first, so that a hub with nothing due starts no write and takes no lock. */
async function sweepWorkspaces(deps: HubDeps): Promise<SweepResult> {
  const { database, clock } = deps;
  const workspaceIds = await listDueWorkspaces(database.reader, clock.nowMs(), WORKSPACES_MAX);
  // One action per workspace: a failure in one must not delay the others.
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
