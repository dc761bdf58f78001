import type { Principal } from '../base/principal.ts';
import type { UploadRow } from './store.ts';

/**
 * Whether a principal may read an upload. A job token reads the uploads of its job and run, and
 * those whose id is in the job's text, such as a requirements document that a person attached.
 * Other principals read every upload of the workspace.
 *
 * @param jobText prompt, requirements and attachments of the principal's job.
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
