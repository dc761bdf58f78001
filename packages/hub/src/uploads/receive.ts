import { randomBytes } from 'node:crypto';
import { HubError } from '../errors.ts';
import type { BytesStored } from './bytes/byte-store.ts';
import { mismatch, takeBytes } from './bytes/check-bytes.ts';
import type { UploadDeps } from './deps.ts';
import { formatOf } from './extraction/document-format.ts';
import { insertExtract } from './extraction/store.ts';
import { limitSilence } from './limit-silence.ts';
import type { SignedAct } from './signed-url.ts';
import { deleteObject, insertObject, markStored, readUpload, type UploadRow } from './store.ts';

/** Bytes on their way from a client. */
export interface Arrival {
  body: AsyncIterable<Uint8Array>;
  lengthBytes: number | null;
}

/**
 * Takes the bytes of an upload. Sent again, they are compared and answered alike.
 *
 * @throws HubError UPLOAD_NOT_FOUND; UPLOAD_MISMATCH; UNAVAILABLE when they cannot be stored.
 */
export async function receiveUpload(
  deps: UploadDeps,
  { workspaceId, uploadId, bytesMax }: SignedAct,
  { body, lengthBytes }: Arrival,
): Promise<BytesStored> {
  const row = await readUpload(deps.database.reader, workspaceId, uploadId);
  if (row === undefined) throw new HubError('UPLOAD_NOT_FOUND');
  if (lengthBytes !== null && lengthBytes !== bytesMax) {
    throw mismatch(`${lengthBytes} bytes, not the ${bytesMax} announced`);
  }
  const source = limitSilence(body, deps.clock);
  if (row.status === 'pending') return keepBytes(deps, row, source);
  return takeBytes(source, { sizeBytes: bytesMax, sha256: row.sha256 }, async () => undefined);
}

/** Where a client of an object store puts the bytes; the hub takes them from there. */
export function incomingKeyOf(row: Pick<UploadRow, 'workspace_id' | 'upload_id'>): string {
  return `${row.workspace_id}.${row.upload_id}.incoming`;
}

/**
 * Takes over what a client has put into the object store: read once, checked on the way, and kept
 * under a key that no URL ever writes to, so that the client cannot change it afterwards.
 *
 * @returns whether the upload is complete now. Wrong bytes are deleted: the client may try again.
 */
export async function settleUpload(deps: UploadDeps, row: UploadRow): Promise<boolean> {
  const key = incomingKeyOf(row);
  const bytes = await deps.byteStore.read(key, null);
  if (bytes === null) return false;
  try {
    await keepBytes(deps, row, bytes);
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
 * Bytes first, then the row that makes them visible. The object is noted before either: one that
 * is left over, by a crash or by a second upload of the same bytes, is found by retention.
 */
async function keepBytes(
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
  if (winner.sha256 !== sha256) throw mismatch('other bytes than those that came first');
  return stored;
}
