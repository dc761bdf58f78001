import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { UploadDeps } from './deps.ts';
import { deleteUploadWithTexts } from './expire.ts';
import { deleteObject, readAttachedJob, readUpload, type UploadRow } from './store.ts';

/**
 * Deletes an upload, its bytes and its extracted text. Allowed for who created it, which may be the
 * tool of a job in an earlier attempt, and for owners and admins at the console. Not while a job
 * names it.
 *
 * @throws HubError UPLOAD_NOT_FOUND, NOT_ALLOWED
 */
export async function deleteUpload(
  { database, byteStore }: UploadDeps,
  principal: Principal,
  { workspaceId, uploadId }: { workspaceId: string; uploadId: string },
): Promise<void> {
  const objectKey = await database.write(workspaceId, async (tx) => {
    const row = await readUpload(tx, workspaceId, uploadId);
    await requireMayDelete(tx, principal, workspaceId, row);
    if (row === undefined) throw new HubError('UPLOAD_NOT_FOUND');
    const job = await readAttachedJob(tx, workspaceId, uploadId);
    if (job !== undefined) {
      throw new HubError(
        'NOT_ALLOWED',
        `The job ${job.job_id} names this upload. Retention deletes it after the job.`,
      );
    }
    await deleteUploadWithTexts(tx, row);
    const actor = principal.principalId;
    await appendAudit(tx, { workspaceId, actor, action: 'upload.delete', subject: uploadId });
    return row.object_key;
  });
  if (objectKey === null) return;
  // The record of the object stays until its bytes are gone; retention repeats what fails here.
  await byteStore.delete(objectKey);
  const object = { workspace_id: workspaceId, object_key: objectKey };
  await database.write(workspaceId, (tx) => deleteObject(tx, object));
}

/**
 * A job token deletes uploads of its job's tools only: those of the agent prove what the job has
 * changed. It learns nothing of others.
 */
async function requireMayDelete(
  tx: Tx,
  principal: Principal,
  workspaceId: string,
  row: UploadRow | undefined,
): Promise<void> {
  if (principal.job !== null) {
    if (row?.created_by !== principal.principalId) throw new HubError('UPLOAD_NOT_FOUND');
    return;
  }
  if (row === undefined || row.created_by === principal.principalId) return;
  if (principal.kind === 'person') {
    await requireAct(tx, principal, workspaceId, 'upload.delete');
    return;
  }
  throw new HubError(
    'NOT_ALLOWED',
    'Only who created the upload, an owner or an admin may do this.',
  );
}
