import type { Tx } from '../db/engine.ts';
import type { JobRecord } from '../jobs/require-job.ts';
import { unblockRun } from '../runs/store.ts';
import { type AfterCompletion, type HookDeps, type JobKey, runHooks } from '../start/hooks.ts';
import { listOpenOfJob, type UncertaintyRow, updateResolved, updateTaken } from './store.ts';
import { appendResolution } from './store-resolutions.ts';

/*
 * The end of a job dismisses its open questions, so that the inbox has only those whose answer is
 * used. A job that is done keeps those that are not about actions, because a job of its own applies
 * their answers, until retention deletes it.
 */

/**
 * Dismisses questions of a job that is done or failed. An `onJobCompleted` hook of uncertainties.
 */
export async function dismissOfCompleted(
  deps: HookDeps,
  tx: Tx,
  { workspaceId, jobId }: JobKey,
): Promise<AfterCompletion> {
  const open = await listOpenOfJob(tx, workspaceId, jobId);
  return async (record) => {
    await dismissAll(deps, tx, jobId, outlived(record, open));
    return record;
  };
}

/** Dismisses the open questions of a job that has ended otherwise. The `onJobEnded` hook. */
export async function dismissOfEnded(
  deps: HookDeps,
  tx: Tx,
  { workspaceId, jobId }: JobKey,
): Promise<void> {
  await dismissAll(deps, tx, jobId, await listOpenOfJob(tx, workspaceId, jobId));
}

/** Those of the open questions that end with a completed job. */
function outlived({ entry }: JobRecord, open: readonly UncertaintyRow[]): UncertaintyRow[] {
  if (entry.status === 'failed') return [...open];
  return entry.status === 'done' ? open.filter((question) => question.action_key !== null) : [];
}

async function dismissAll(
  deps: HookDeps,
  tx: Tx,
  jobId: string,
  questions: readonly UncertaintyRow[],
): Promise<void> {
  const { ids, decisionWaiters, hooks } = deps;
  // A person may answer at the same time.
  if (questions.length > 0) tx.requireExclusive();
  for (const question of questions) {
    const { workspace_id, uncertainty_id, decision_request_id: decisionRequestId } = question;
    if (!(await updateResolved(tx, question, { supersede: false, handOverAtMs: null }))) continue;
    await appendResolution(tx, {
      workspace_id,
      uncertainty_id,
      resolution_id: ids('resolution'),
      mode: 'dismissed',
      value: '',
      confidence: 1,
      commit_sha: null,
      created_by_job_id: jobId,
      created_by: null,
      created_by_id: null,
      created_at: tx.nowMs,
      is_held: 0,
      rule_id: null,
    });
    await updateTaken(tx, question, null);
    await runHooks(hooks.onDecisionResolved, deps, tx, question);
    if (decisionRequestId !== null) await unblockRun(tx, question, decisionRequestId);
    tx.afterCommit(() => decisionWaiters.wake(workspace_id, uncertainty_id));
  }
}
