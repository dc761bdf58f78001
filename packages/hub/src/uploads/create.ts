import { type AnswerOf, endpoints, type RequestInput, SIGNED_URL_MS } from '@signalbox/contract';
import { findWaitingRequest } from '../agents/patch-requests.ts';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { requireEntryOfAgent } from '../jobs/require-job.ts';
import { requireClaim } from '../queue/leased-work.ts';
import type { UploadDeps } from './deps.ts';
import { incomingKeyOf } from './receive.ts';
import { signUrl } from './signed-url.ts';
import { insertObject, type UploadRow } from './store.ts';
import { addUsage } from './usage.ts';

const { uploads } = endpoints;
type CreateInput = RequestInput<typeof uploads.create.request>;

/**
 * Announces an upload and returns the URL to send its bytes to. The URL is derived from the stored
 * row, so a repeated call returns the same URL although no URL is stored.
 *
 * @throws HubError IDEMPOTENCY_CONFLICT; LIMIT_REACHED beyond a quota; UNAVAILABLE without space;
 *   JOB_NOT_FOUND, AGENT_NOT_FOUND, a refusal of `checkClaim`.
 */
export async function createUpload(
  deps: UploadDeps,
  principal: Principal,
  input: CreateInput,
): Promise<AnswerOf<typeof uploads.create>> {
  const { workspaceId } = input;
  await deps.disk?.requireFree(input.sizeBytes);
  const { idempotent, ...upload } = await deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { operation: 'uploadsCreate', principal, input }, async () => {
      if (input.job !== undefined) await checkJob(tx, principal, workspaceId, input.job);
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
        job_id: principal.job?.jobId ?? input.job?.jobId ?? null,
        run_id: principal.job?.runId ?? null,
        created_at: tx.nowMs,
        expires_at: tx.nowMs + SIGNED_URL_MS,
        stored_at: null,
      };
      await addUsage(tx, row, deps.quotas);
      insertRow(tx, 'uploads', row);
      if (deps.byteStore.signer !== null) {
        // Recorded first, so that bytes are deleted even if the client sends them late.
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

/** Only the agent that holds a job, or was asked for its patch, adds to what evidence can show. */
async function checkJob(
  tx: Tx,
  principal: Principal,
  workspaceId: string,
  job: NonNullable<CreateInput['job']>,
): Promise<void> {
  if (principal.job !== null && principal.job.jobId !== job.jobId) {
    throw new HubError('NOT_ALLOWED', 'With a job token, uploads belong to the job of the token.');
  }
  const entry = await requireEntryOfAgent(tx, principal, { workspaceId, ...job });
  if (principal.job === null && job.claimGeneration === undefined) {
    if (await findWaitingRequest(tx, { workspaceId, ...job })) return;
  }
  requireClaim(entry, job);
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
