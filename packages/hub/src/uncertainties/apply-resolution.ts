import type { Tx } from '../db/engine.ts';
import { unblockRun } from '../runs/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { handOverAnswer } from './hand-over.ts';
import type { UncertaintyRow } from './store.ts';
import type { ResolutionRow } from './store-resolutions.ts';

/** The actor that the events of jobs name for an answer at a deadline. */
const DEADLINE_ACTOR = 'deadline';

/**
 * Makes a resolution take effect: unblocks the run, hands the answer over to a job, and wakes those
 * who wait for it.
 */
export async function applyResolution(
  deps: HubDeps,
  tx: Tx,
  row: UncertaintyRow,
  resolution: ResolutionRow,
): Promise<void> {
  if (row.decision_request_id !== null) await unblockRun(tx, row, row.decision_request_id);
  const by = resolution.created_by_id ?? DEADLINE_ACTOR;
  await handOverAnswer(deps, tx, { uncertainty: row, resolution, by });
  const { workspace_id: workspaceId, uncertainty_id: uncertaintyId } = row;
  tx.afterCommit(() => deps.decisionWaiters.wake(workspaceId, uncertaintyId));
}
