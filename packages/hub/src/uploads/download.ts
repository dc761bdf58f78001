import { endpoints, SIGNED_URL_MS } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { readJob } from '../jobs/store.ts';
import type { UploadDeps } from './deps.ts';
import { mayReadUpload } from './policy.ts';
import { collectUpload } from './receive.ts';
import { signUrl } from './signed-url.ts';
import { readUpload, type UploadRow } from './store.ts';

const { uploads } = endpoints;

/** An upload whose bytes are all stored. */
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
  // The client may have sent the bytes to the object store since the last collection.
  if (row.status === 'pending' && deps.byteStore.signer !== null) await collectUpload(deps, row);
  const current =
    row.status === 'stored' ? row : await readUpload(deps.database.reader, workspaceId, uploadId);
  if (current?.status !== 'stored') throw new HubError('UPLOAD_NOT_FOUND');
  // The object's key and hash are set together with the status.
  return current as StoredUpload;
}

/** Reads prompt, requirements and attachments of a job token's job; empty for other tokens. */
async function readJobText(deps: UploadDeps, { job, workspaceId }: Principal): Promise<string> {
  if (job === null || workspaceId === null) return '';
  const row = await readJob(deps.database.reader, workspaceId, job.jobId);
  return row === undefined
    ? ''
    : `${row.prompt}\n${row.requirements ?? ''}\n${row.attachments ?? ''}`;
}

export interface DownloadUrl {
  downloadUrl: string;
  expiresAt: string;
}

/** Signs a URL of this hub or of the object store that serves the bytes for a limited time. */
export async function signDownloadUrl(
  { byteStore, urlKey, baseUrl, clock }: UploadDeps,
  row: StoredUpload,
): Promise<DownloadUrl> {
  const nowMs = clock.nowMs();
  const expiresAt = timestampOf(nowMs + SIGNED_URL_MS);
  if (byteStore.signer !== null) {
    const downloadUrl = await byteStore.signer.signGet(row.object_key, {
      contentType: row.content_type,
      contentDisposition: contentDispositionOf(row.file_name),
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

/** Not allowed in the quoted form of a name: all but plain ASCII without `"`, `\` and `%`. */
const UNSAFE_IN_QUOTES = /[^\x20-\x7e]|["\\%]/gu;
/** Characters that `encodeURIComponent` keeps and RFC 8187 does not allow. */
const UNSAFE_IN_VALUE = /['()*]/g;

/**
 * Returns the `Content-Disposition` of a download (RFC 6266), so that browsers save the file under
 * its own name and do not display it. The quoted form is for clients without RFC 8187.
 */
export function contentDispositionOf(fileName: string): string {
  const quoted = fileName.replace(UNSAFE_IN_QUOTES, '_');
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    UNSAFE_IN_VALUE,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${quoted}"; filename*=UTF-8''${encoded}`;
}
