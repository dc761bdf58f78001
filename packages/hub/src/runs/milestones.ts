import { RUN_MILESTONES_MAX } from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import type { RunRow } from './store.ts';
import { deleteMilestones, readLastMilestone } from './store-milestones.ts';

type RunState = Pick<RunRow, 'workspace_id' | 'run_id' | 'status' | 'current_milestone'>;

/**
 * Records that a run has entered a milestone or a status, if either is another one than before.
 * Keeps the latest RUN_MILESTONES_MAX.
 */
export async function recordMilestone(tx: Tx, run: RunState): Promise<void> {
  const last = await readLastMilestone(tx, run);
  if (last?.status === run.status && last.milestone === run.current_milestone) return;
  const seq = (last?.seq ?? 0) + 1;
  insertRow(tx, 'run_milestones', {
    workspace_id: run.workspace_id,
    run_id: run.run_id,
    seq,
    milestone: run.current_milestone,
    status: run.status,
    at: tx.nowMs,
  });
  if (seq > RUN_MILESTONES_MAX) await deleteMilestones(tx, run, seq - RUN_MILESTONES_MAX);
}
