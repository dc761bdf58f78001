import type { Principal } from '../principal.ts';
import type { UploadRow } from './store.ts';

/** The tool of a job reads what came in for this job or its run; everybody else what they know. */
export function mayReadUpload(
  principal: Principal,
  upload: Pick<UploadRow, 'job_id' | 'run_id'>,
): boolean {
  const { job } = principal;
  if (job === null || upload.job_id === job.jobId) return true;
  return upload.run_id !== null && upload.run_id === job.runId;
}
