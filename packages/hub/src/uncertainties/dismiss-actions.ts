import type { Tx } from '../db/engine.ts';
import type { AfterCompletion, HookDeps } from '../hooks.ts';
import type { JobRecord } from '../jobs/require-job.ts';
import { unblockRun } from '../runs/store.ts';
import { listOpenActions, type UncertaintyRow, updateResolved, updateTaken } from './store.ts';
import { appendResolution } from './store-resolutions.ts';

/**
 * Dismisses the open questions about actions of a job that has ended: nothing can take their
 * answers any more. An `onJobCompleted` hook of uncertainties.
 */
export async function dismissActions(
  deps: HookDeps,
  tx: Tx,
  { workspaceId, jobId }: { workspaceId: string; jobId: string },
): Promise<AfterCompletion> {
  const questions = await listOpenActions(tx, workspaceId, jobId);
  return (record) => dismissAll(deps, tx, record, questions);
}

async function dismissAll(
  { ids }: HookDeps,
  tx: Tx,
  record: JobRecord,
  questions: readonly UncertaintyRow[],
): Promise<JobRecord> {
  const { entry, row } = record;
  if (entry.status !== 'done' && entry.status !== 'failed') return record;
  // A person may answer at the same time.
  if (questions.length > 0) tx.requireExclusive();
  for (const question of questions) {
    const { workspace_id, uncertainty_id, decision_request_id: decisionRequestId } = question;
    if (!(await updateResolved(tx, question, { supersede: false, handOverAtMs: null }))) continue;
    await appendResolution(tx, {
      ...{ workspace_id, uncertainty_id, resolution_id: ids('resolution'), mode: 'dismissed' },
      ...{ value: '', confidence: 1, commit_sha: null, created_by_job_id: row.job_id },
      ...{ created_by: null, created_by_id: null, created_at: tx.nowMs, is_held: 0 },
    });
    await updateTaken(tx, question, null);
    if (decisionRequestId !== null) await unblockRun(tx, question, decisionRequestId);
  }
  return record;
}
