import type { Principal } from '../principal.ts';
import type { UploadRow } from './store.ts';

/**
 * The tool of a job reads what came in for this job or its run, and what the job itself names: a
 * requirement document that a person attached. Everybody else reads what they know.
 *
 * @param jobText prompt and requirements of the principal's job.
 */
export function mayReadUpload(
  principal: Principal,
  upload: Pick<UploadRow, 'upload_id' | 'job_id' | 'run_id'>,
  jobText: string,
): boolean {
  const { job } = principal;
  if (job === null || upload.job_id === job.jobId) return true;
  if (jobText.includes(upload.upload_id)) return true;
  return upload.run_id !== null && upload.run_id === job.runId;
}
