import { randomBytes } from 'node:crypto';
import { HubError } from '../base/errors.ts';
import type { BytesStored } from './bytes/byte-store.ts';
import { mismatch, takeBytes } from './bytes/check-bytes.ts';
import type { UploadDeps } from './deps.ts';
import { formatOf } from './extraction/document-format.ts';
import { insertExtract } from './extraction/store.ts';
import { limitSilence } from './limit-silence.ts';
import type { SignedRequest } from './signed-url.ts';
import {
  deleteObject,
  insertObject,
  listPending,
  markStored,
  readUpload,
  type UploadRow,
} from './store.ts';

/** Uploads that one call of `collectUploads` checks. */
const PENDING_PAGE = 20;

/** The body of a request that sends an upload's bytes. */
export interface IncomingBytes {
  body: AsyncIterable<Uint8Array>;
  lengthBytes: number | null;
}

/**
 * Receives the bytes of an upload. Bytes that are sent again are compared with the announced ones
 * and get the same answer.
 *
 * @throws HubError UPLOAD_NOT_FOUND; UPLOAD_MISMATCH; UNAVAILABLE when they cannot be stored.
 */
export async function receiveUpload(
  deps: UploadDeps,
  { workspaceId, uploadId, bytesMax }: SignedRequest,
  { body, lengthBytes }: IncomingBytes,
): Promise<BytesStored> {
  if (lengthBytes !== null && lengthBytes !== bytesMax) {
    throw mismatch(`${lengthBytes} bytes instead of the announced ${bytesMax}`);
  }
  // One after the other, so that an upload takes its space once; the later ones are compared.
  return deps.arrivals.inTurn(`${workspaceId} ${uploadId}`, async () => {
    const row = await readUpload(deps.database.reader, workspaceId, uploadId);
    if (row === undefined) throw new HubError('UPLOAD_NOT_FOUND');
    return receiveInTurn(deps, row, limitSilence(body, deps.clock));
  });
}

async function receiveInTurn(
  deps: UploadDeps,
  row: UploadRow,
  source: AsyncIterable<Uint8Array>,
): Promise<BytesStored> {
  const { size_bytes: sizeBytes, sha256 } = row;
  if (row.status === 'pending') {
    const release = await deps.disk?.hold(sizeBytes);
    try {
      return await storeBytes(deps, row, source);
    } finally {
      release?.();
    }
  }
  return takeBytes(source, { sizeBytes, sha256 }, async () => undefined);
}

/** The key at which a client of an object store puts the bytes, for the hub to collect. */
export function incomingKeyOf(row: Pick<UploadRow, 'workspace_id' | 'upload_id'>): string {
  return `${row.workspace_id}.${row.upload_id}.incoming`;
}

/**
 * Collects the bytes that a client has put into the object store. The hub reads them once, checks
 * them on the way, and stores them under a key that no URL ever writes to, so that the client
 * cannot change them afterwards.
 *
 * @returns whether the upload is complete now. Wrong bytes are deleted: the client may try again.
 */
export async function collectUpload(deps: UploadDeps, row: UploadRow): Promise<boolean> {
  const key = incomingKeyOf(row);
  const bytes = await deps.byteStore.read(key, null);
  if (bytes === null) return false;
  try {
    await storeBytes(deps, row, bytes);
    return true;
  } catch (error) {
    if (error instanceof HubError && error.code === 'UPLOAD_MISMATCH') return false;
    throw error;
  } finally {
    bytes.destroy();
    await deps.byteStore.delete(key);
  }
}

/**
 * Collects the bytes of pending uploads from the object store, a page of uploads per call: the
 * store does not notify the hub when bytes arrive.
 *
 * @param after the end of the page before. Null: from the beginning.
 * @returns the end of this page. Null after the last page.
 */
export async function collectUploads(
  deps: UploadDeps,
  after: { expiresAtMs: number; uploadId: string } | null,
): Promise<{ expiresAtMs: number; uploadId: string } | null> {
  if (deps.byteStore.signer === null) return null;
  const rows = await listPending(deps.database.reader, {
    afterExpiryMs: after?.expiresAtMs ?? 0,
    afterId: after?.uploadId ?? '',
    limit: PENDING_PAGE,
  });
  for (const row of rows) await collectUpload(deps, row);
  const last = rows.at(-1);
  if (last === undefined || rows.length < PENDING_PAGE) return null;
  return { expiresAtMs: last.expires_at, uploadId: last.upload_id };
}

/**
 * Stores the bytes, then marks the upload as stored, which makes them visible. The object is
 * recorded before either. An object that is left over, by a crash or by a second upload of the
 * same bytes, is deleted by retention.
 */
async function storeBytes(
  { database, byteStore }: UploadDeps,
  row: UploadRow,
  source: AsyncIterable<Uint8Array>,
): Promise<BytesStored> {
  const { workspace_id, upload_id } = row;
  const object_key = `${workspace_id}.${upload_id}.${randomBytes(8).toString('hex')}`;
  const object = { workspace_id, upload_id, object_key };
  await database.write(workspace_id, (tx) => insertObject(tx, object));
  const expected = { sizeBytes: row.size_bytes, sha256: row.sha256 };
  const stored = await byteStore.put(object_key, source, expected);
  const { sha256 } = stored;
  const isFirst = await database.write(workspace_id, async (tx) => {
    if (!(await markStored(tx, row, { sha256, objectKey: object_key }))) return false;
    await deleteObject(tx, object);
    const format = formatOf({ contentType: row.content_type, fileName: row.file_name });
    if (format !== null) {
      await insertExtract(tx, { workspace_id, content_hash: sha256, format, upload_id });
    }
    return true;
  });
  if (isFirst) return stored;
  const winner = await readUpload(database.reader, workspace_id, upload_id);
  if (winner === undefined) throw new HubError('UPLOAD_NOT_FOUND');
  if (winner.sha256 !== sha256) throw mismatch('bytes other than those that arrived first');
  return stored;
}
