import type { IdSource } from '@signalbox/contract';
import { assert } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { recordMilestone } from './milestones.ts';
import { insertRun, type RunRow, readRunByRef } from './store.ts';

export interface NewRun {
  workspaceId: string;
  repoId: string;
  runRef: string;
  title: string;
  goal: string;
}

/**
 * Returns the run of a repository that has a reference, or creates it, in the caller's transaction.
 * An existing run keeps its title and goal. Of concurrent transactions that create the same run,
 * one inserts it and the others read it.
 */
export async function ensureRun(
  { ids }: { ids: IdSource },
  tx: Tx,
  { workspaceId, repoId, runRef, title, goal }: NewRun,
): Promise<RunRow> {
  const known = await readRunByRef(tx, workspaceId, repoId, runRef);
  if (known !== undefined) return known;
  const row: RunRow = {
    workspace_id: workspaceId,
    run_id: ids('run'),
    repo_id: repoId,
    run_ref: runRef,
    status: 'planned',
    current_milestone: null,
    run_state_path: null,
    title,
    goal,
    blocked_by_decision_request_id: null,
    ask_order: null,
    created_at: tx.nowMs,
    updated_at: tx.nowMs,
  };
  if ((await insertRun(tx, row)).added) {
    await recordMilestone(tx, row);
    return row;
  }
  const existing = await readRunByRef(tx, workspaceId, repoId, runRef);
  assert(existing !== undefined, 'the run that blocked the insert exists');
  return existing;
}
