import type { ReviewComment } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Database } from '../db/engine.ts';
import { readJob } from '../jobs/store.ts';
import { presentComment } from './present.ts';
import { listComments } from './store.ts';

/** Lists the comments of the work of a job, oldest first. @throws HubError JOB_NOT_FOUND */
export async function listReviewComments(
  { database: { reader } }: { database: Database },
  { workspaceId, jobId }: { workspaceId: string; jobId: string },
): Promise<ReviewComment[]> {
  const job = await readJob(reader, workspaceId, jobId);
  if (job === undefined) throw new HubError('JOB_NOT_FOUND');
  const rows = await listComments(reader, workspaceId, job.work_job_id ?? job.job_id);
  return rows.map(presentComment);
}
