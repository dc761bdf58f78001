import { HubError } from '../base/errors.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, plus, sql, updateRows, upsertRow } from '../db/row-write.ts';
import type { UploadsTable } from '../db/schema/uploads.ts';

/** How many bytes of uploads a workspace and a job may have. */
export interface UploadQuotas {
  workspaceBytes: number;
  jobBytes: number;
}

/** The least that an upload counts, so that empty uploads are bounded too. */
const COUNTED_BYTES_MIN = 4_096;
/** The job of the row that counts the whole workspace. */
const ALL_JOBS = '';

export type CountedUpload = Pick<UploadsTable, 'workspace_id' | 'job_id' | 'size_bytes'>;

/**
 * Counts a new upload. The action is exclusive in its workspace, so no other upload is counted at
 * the same time.
 *
 * @throws HubError LIMIT_REACHED
 */
export async function addUsage(tx: Tx, upload: CountedUpload, quotas: UploadQuotas): Promise<void> {
  const { workspace_id: workspaceId, job_id: jobId } = upload;
  const bytes = countedBytes(upload);
  await addWithin(tx, workspaceId, ALL_JOBS, bytes, quotas.workspaceBytes);
  if (jobId !== null) await addWithin(tx, workspaceId, jobId, bytes, quotas.jobBytes);
}

async function addWithin(
  tx: Tx,
  workspaceId: string,
  jobId: string,
  bytes: number,
  bytesMax: number,
): Promise<void> {
  const { sizeBytes: used } = await readUsage(tx, workspaceId, jobId);
  if (used + bytes > bytesMax) {
    const owner = jobId === ALL_JOBS ? 'workspace' : 'job';
    throw new HubError(
      'LIMIT_REACHED',
      `The uploads of the ${owner} have ${used} of ${bytesMax} bytes: delete some with ` +
        'uploads/delete, or send less.',
    );
  }
  await upsertRow(
    tx,
    'upload_usage',
    { workspace_id: workspaceId, job_id: jobId, size_bytes: bytes, upload_count: 1 },
    ['workspace_id', 'job_id'],
    {
      size_bytes: plus('upload_usage.size_bytes', bytes),
      upload_count: plus('upload_usage.upload_count', 1),
    },
  );
}

/** Subtracts uploads that the same action deletes. */
export async function removeUsage(tx: Tx, uploads: readonly CountedUpload[]): Promise<void> {
  for (const upload of uploads) {
    const { workspace_id: workspaceId, job_id: jobId } = upload;
    const bytes = countedBytes(upload);
    for (const counted of jobId === null ? [ALL_JOBS] : [ALL_JOBS, jobId]) {
      await updateRows(
        tx,
        'upload_usage',
        { workspace_id: workspaceId, job_id: counted },
        { size_bytes: plus('size_bytes', -bytes), upload_count: plus('upload_count', -1) },
      );
    }
    if (jobId !== null) {
      await deleteRows(tx, 'upload_usage', {
        workspace_id: workspaceId,
        job_id: jobId,
        also: sql('size_bytes <= 0'),
      });
    }
  }
}

/** The counted bytes and the number of uploads of a workspace, or of a job. */
export async function readUsage(
  reader: Reader,
  workspaceId: string,
  jobId: string = ALL_JOBS,
): Promise<{ sizeBytes: number; uploadCount: number }> {
  const row = await reader.firstSql<{ size_bytes: number; upload_count: number }>(
    'SELECT size_bytes, upload_count FROM upload_usage WHERE workspace_id = ? AND job_id = ?',
    [workspaceId, jobId],
  );
  return { sizeBytes: row?.size_bytes ?? 0, uploadCount: row?.upload_count ?? 0 };
}

function countedBytes({ size_bytes }: CountedUpload): number {
  return Math.max(size_bytes, COUNTED_BYTES_MIN);
}
