import { endpoints, type RequestInput, SIGNED_URL_MS } from '@signalbox/contract';
import { timestampOf } from '../clock.ts';
import { HubError } from '../errors.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { readJob } from '../jobs/store.ts';
import type { Principal } from '../principal.ts';
import { attachmentOf } from './attachment.ts';
import type { UploadDeps } from './deps.ts';
import { mayReadUpload } from './policy.ts';
import { incomingKeyOf, settleUpload } from './receive.ts';
import { signUrl } from './signed-url.ts';
import { insertObject, insertUpload, readUpload, type UploadRow } from './store.ts';

const { uploads } = endpoints;
type CreateInput = RequestInput<typeof uploads.create.request>;

export interface CreatedUpload {
  uploadId: string;
  uploadUrl: string;
  expiresAt: string;
  idempotent?: boolean;
}

/**
 * Announces an upload. The URL is made from what is kept, so a repeated call gets the very same one
 * without its being kept anywhere.
 *
 * @throws HubError IDEMPOTENCY_CONFLICT
 */
export async function createUpload(
  deps: UploadDeps,
  principal: Principal,
  input: CreateInput,
): Promise<CreatedUpload> {
  const { idempotencyKey: key, ...body } = input;
  const { workspaceId } = input;
  const call = { workspaceId, operation: uploads.create.name, key, body };
  const { idempotent, ...upload } = await deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, call, async () => {
      const row: UploadRow = {
        workspace_id: workspaceId,
        upload_id: deps.ids('upload'),
        file_name: input.fileName,
        content_type: input.contentType,
        size_bytes: input.sizeBytes,
        sha256: input.sha256 ?? null,
        status: 'pending',
        object_key: null,
        created_by: principal.principalId,
        job_id: principal.job?.jobId ?? null,
        run_id: principal.job?.runId ?? null,
        created_at: tx.nowMs,
        expires_at: tx.nowMs + SIGNED_URL_MS,
        stored_at: null,
      };
      await insertUpload(deps.database, tx, row);
      if (deps.byteStore.signer !== null) {
        // Whatever the client sends there, whenever it does, is known and will be cleared away.
        const { workspace_id, upload_id } = row;
        await insertObject(tx, { workspace_id, upload_id, object_key: incomingKeyOf(row) });
      }
      return { uploadId: row.upload_id, createdAtMs: row.created_at };
    }),
  );
  const expiresAtMs = upload.createdAtMs + SIGNED_URL_MS;
  return {
    uploadId: upload.uploadId,
    uploadUrl: await signUploadUrl(deps, { ...upload, workspaceId, sizeBytes: input.sizeBytes }),
    expiresAt: timestampOf(expiresAtMs),
    ...(idempotent === undefined ? {} : { idempotent }),
  };
}

async function signUploadUrl(
  { byteStore, urlKey, baseUrl }: UploadDeps,
  upload: { workspaceId: string; uploadId: string; createdAtMs: number; sizeBytes: number },
): Promise<string> {
  const { workspaceId, uploadId, createdAtMs, sizeBytes } = upload;
  if (byteStore.signer !== null) {
    const key = incomingKeyOf({ workspace_id: workspaceId, upload_id: uploadId });
    return byteStore.signer.signPut(key, { sizeBytes, signedAtMs: createdAtMs });
  }
  return signUrl(urlKey, baseUrl + uploads.storeBytes.path, {
    method: 'PUT',
    workspaceId,
    uploadId,
    expiresAt: timestampOf(createdAtMs + SIGNED_URL_MS),
    bytesMax: sizeBytes,
  });
}

/** An upload with all its bytes. */
export type StoredUpload = UploadRow & { status: 'stored'; object_key: string; sha256: string };

/** @throws HubError UPLOAD_NOT_FOUND: unknown, foreign, not for this job, or not complete. */
export async function requireStoredUpload(
  deps: UploadDeps,
  workspaceId: string,
  uploadId: string,
  principal: Principal | null = null,
): Promise<StoredUpload> {
  const row = await readUpload(deps.database.reader, workspaceId, uploadId);
  if (row === undefined) throw new HubError('UPLOAD_NOT_FOUND');
  if (principal !== null && !mayReadUpload(principal, row, await readJobText(deps, principal))) {
    throw new HubError('UPLOAD_NOT_FOUND');
  }
  // The client may have sent the bytes to the object store a moment ago.
  if (row.status === 'pending' && deps.byteStore.signer !== null) await settleUpload(deps, row);
  const current =
    row.status === 'stored' ? row : await readUpload(deps.database.reader, workspaceId, uploadId);
  if (current?.status !== 'stored') throw new HubError('UPLOAD_NOT_FOUND');
  // Set together with the status.
  return current as StoredUpload;
}

/** What the job of a job token says of itself; empty for other tokens. */
async function readJobText(deps: UploadDeps, { job, workspaceId }: Principal): Promise<string> {
  if (job === null || workspaceId === null) return '';
  const row = await readJob(deps.database.reader, workspaceId, job.jobId);
  return row === undefined ? '' : `${row.prompt}\n${row.requirements ?? ''}`;
}

export interface DownloadUrl {
  downloadUrl: string;
  expiresAt: string;
}

/** A URL of this hub or of the object store that opens the bytes for a while. */
export async function signDownloadUrl(
  { byteStore, urlKey, baseUrl, clock }: UploadDeps,
  row: StoredUpload,
): Promise<DownloadUrl> {
  const nowMs = clock.nowMs();
  const expiresAt = timestampOf(nowMs + SIGNED_URL_MS);
  if (byteStore.signer !== null) {
    const downloadUrl = await byteStore.signer.signGet(row.object_key, {
      contentType: row.content_type,
      contentDisposition: attachmentOf(row.file_name),
      signedAtMs: nowMs,
    });
    return { downloadUrl, expiresAt };
  }
  const downloadUrl = signUrl(urlKey, baseUrl + uploads.readBytes.path, {
    method: 'GET',
    workspaceId: row.workspace_id,
    uploadId: row.upload_id,
    expiresAt,
    bytesMax: row.size_bytes,
  });
  return { downloadUrl, expiresAt };
}
