import type { Attachment } from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import type { JobKey } from '../start/hooks.ts';
import { readUpload } from './store.ts';

/**
 * Keeps uploads for a new job, as long as the job lives. The `attachUploads` hook.
 *
 * @throws HubError INVALID_REQUEST: not a completed upload of the workspace.
 */
export async function attachUploads(
  tx: Tx,
  { workspaceId, jobId }: JobKey,
  uploadIds: readonly string[],
): Promise<Attachment[]> {
  const attachments: Attachment[] = [];
  for (const [at, uploadId] of uploadIds.entries()) {
    const row = await readUpload(tx, workspaceId, uploadId);
    if (row?.status !== 'stored') {
      throw invalidField(`/attachments/${at}`, 'must be a completed upload of this workspace');
    }
    insertRow(tx, 'upload_attachments', {
      workspace_id: workspaceId,
      job_id: jobId,
      upload_id: uploadId,
    });
    const { file_name: fileName, size_bytes: sizeBytes, content_type: contentType } = row;
    attachments.push({ uploadId, fileName, sizeBytes, contentType });
  }
  return attachments;
}
