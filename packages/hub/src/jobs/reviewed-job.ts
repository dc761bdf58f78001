import { invalidField } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { commitOf } from './policy.ts';
import { type JobRecord, requireJob } from './require-job.ts';

/**
 * Reads the job whose commit a new job reviews.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST
 */
export async function requireReviewed(
  tx: Tx,
  draft: { workspaceId: string; repoId: string; kind: string },
  jobId: string,
): Promise<JobRecord> {
  const field = '/reviewsJobId';
  if (draft.kind !== 'pr_review') throw invalidField(field, 'is for jobs of the kind pr_review');
  const record = await requireJob(tx, draft.workspaceId, jobId);
  const { entry, row } = record;
  if (row.repo_id !== draft.repoId) {
    throw invalidField(field, 'must name a job of the same repository');
  }
  const hasResult = entry.status === 'done' || entry.status === 'failed';
  if (!hasResult || commitOf(row) === null) {
    throw invalidField(field, 'must name a job that is done or failed with a commit');
  }
  return record;
}
