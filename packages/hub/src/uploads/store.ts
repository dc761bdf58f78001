import { conditions } from '../db/conditions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import {
  deleteOf,
  deleteRows,
  insertRow,
  sql,
  updateRows,
  writeReturning,
} from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type {
  UploadAttachmentsTable,
  UploadObjectsTable,
  UploadsTable,
} from '../db/schema/uploads.ts';
import type { CountedUpload } from './usage.ts';

export type UploadRow = UploadsTable;
export type UploadObjectRow = UploadObjectsTable;

export function readUpload(
  reader: Reader,
  workspaceId: string,
  uploadId: string,
): Promise<UploadRow | undefined> {
  return reader.firstSql<UploadRow>(
    `SELECT ${allColumns.uploads} FROM uploads WHERE workspace_id = ? AND upload_id = ?`,
    [workspaceId, uploadId],
  );
}

/** Newest first; one more than `limit`, so that the caller sees whether more follow. */
export function listUploads(
  reader: Reader,
  workspaceId: string,
  page: { limit: number; before: string | null },
): Promise<UploadRow[]> {
  const given = conditions([
    ['workspace_id = ?', workspaceId],
    ['upload_id < ?', page.before],
  ]);
  return reader.allSql<UploadRow>(
    `SELECT ${allColumns.uploads} FROM uploads WHERE ${given.sql} ORDER BY upload_id DESC LIMIT ?`,
    [...given.values, page.limit + 1],
  );
}

/** The upload whose bytes arrived last, in all workspaces. It reads the whole table. */
export function readNewestStored(
  reader: Reader,
): Promise<{ upload_id: string; object_key: string } | undefined> {
  return reader.firstSql(
    `SELECT upload_id, object_key FROM uploads WHERE status = 'stored'
     ORDER BY stored_at DESC LIMIT 1`,
    [],
  );
}

/** @returns false when the upload was stored already. */
export async function markStored(
  tx: Tx,
  upload: Pick<UploadRow, 'workspace_id' | 'upload_id'>,
  bytes: { sha256: string; objectKey: string },
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'uploads',
    { workspace_id: upload.workspace_id, upload_id: upload.upload_id, status: 'pending' },
    { status: 'stored', sha256: bytes.sha256, object_key: bytes.objectKey, stored_at: tx.nowMs },
  );
  return changes > 0;
}

/** Lists uploads whose bytes may still arrive, in all workspaces, oldest first. */
export function listPending(
  reader: Reader,
  page: { afterExpiryMs: number; afterId: string; limit: number },
): Promise<UploadRow[]> {
  return reader.allSql<UploadRow>(
    `SELECT ${allColumns.uploads} FROM uploads WHERE status = 'pending' AND (expires_at, upload_id) > (?, ?)
     ORDER BY expires_at, upload_id LIMIT ?`,
    [page.afterExpiryMs, page.afterId, page.limit],
  );
}

/** Deletes uploads that were never completed, in all workspaces. */
export function deleteUnfinishedUploads(
  tx: Tx,
  before: { expiresAtMs: number; limit: number },
): Promise<CountedUpload[]> {
  const isExpired = sql(
    `(workspace_id, upload_id) IN (
       SELECT workspace_id, upload_id FROM uploads
       WHERE status = 'pending' AND expires_at < ? ORDER BY expires_at LIMIT ?)`,
    before.expiresAtMs,
    before.limit,
  );
  return writeReturning<CountedUpload>(
    tx,
    deleteOf('uploads', { status: 'pending', also: isExpired }),
    'workspace_id, job_id, size_bytes',
  );
}

/** Records an object before the byte store writes it; see `UploadObjectsTable`. */
export async function insertObject(
  tx: Tx,
  row: Omit<UploadObjectRow, 'created_at'>,
): Promise<void> {
  insertRow(tx, 'upload_objects', { ...row, created_at: tx.nowMs });
}

export async function deleteObject(
  tx: Tx,
  row: Pick<UploadObjectRow, 'workspace_id' | 'object_key'>,
): Promise<void> {
  await deleteRows(tx, 'upload_objects', {
    workspace_id: row.workspace_id,
    object_key: row.object_key,
  });
}

/** Lists objects recorded before a time that belong to no upload, in all workspaces. */
export function listLeftoverObjects(
  reader: Reader,
  before: { createdAtMs: number; limit: number },
): Promise<UploadObjectRow[]> {
  return reader.allSql<UploadObjectRow>(
    `SELECT ${allColumns.upload_objects} FROM upload_objects WHERE created_at < ? ORDER BY created_at LIMIT ?`,
    [before.createdAtMs, before.limit],
  );
}

const IS_ATTACHED = `EXISTS (SELECT 1 FROM upload_attachments AS a
  WHERE a.workspace_id = uploads.workspace_id AND a.upload_id = uploads.upload_id)`;

/** The columns of a stored upload that retention needs. */
export type ExpiringUpload = Pick<UploadRow, 'upload_id' | 'object_key' | 'sha256'> & CountedUpload;

/** Lists uploads that were stored before a time and that no job names, oldest first. */
export function listStoredBefore(
  reader: Reader,
  workspaceId: string,
  before: { storedAtMs: number; limit: number },
): Promise<ExpiringUpload[]> {
  return reader.allSql<ExpiringUpload>(
    `SELECT workspace_id, upload_id, job_id, size_bytes, object_key, sha256 FROM uploads
     WHERE workspace_id = ? AND stored_at < ? AND NOT ${IS_ATTACHED}
     ORDER BY stored_at LIMIT ?`,
    [workspaceId, before.storedAtMs, before.limit],
  );
}

export async function deleteAttachments(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'upload_attachments', { workspace_id: workspaceId, job_id: jobIds });
}

/** A job that names an upload, or undefined. */
export function readAttachedJob(
  reader: Reader,
  workspaceId: string,
  uploadId: string,
): Promise<Pick<UploadAttachmentsTable, 'job_id'> | undefined> {
  return reader.firstSql(
    'SELECT job_id FROM upload_attachments WHERE workspace_id = ? AND upload_id = ? LIMIT 1',
    [workspaceId, uploadId],
  );
}

/** Finds another upload of the same bytes, which shares the texts extracted from them. */
export function readOtherWithBytes(
  reader: Reader,
  upload: Pick<ExpiringUpload, 'workspace_id' | 'upload_id'> & { sha256: string },
): Promise<{ upload_id: string } | undefined> {
  return reader.firstSql(
    `SELECT upload_id FROM uploads
     WHERE workspace_id = ? AND sha256 = ? AND status = 'stored' AND upload_id <> ? LIMIT 1`,
    [upload.workspace_id, upload.sha256, upload.upload_id],
  );
}

/** A stored upload and the object that has its bytes. */
export type StoredUpload = Pick<
  UploadRow,
  'workspace_id' | 'upload_id' | 'file_name' | 'size_bytes'
> & { object_key: string; sha256: string };

/** Stored uploads of all workspaces, in the order of their keys. */
export function listStoredUploads(
  reader: Reader,
  after: { workspaceId: string; id: string },
  limit: number,
): Promise<StoredUpload[]> {
  return reader.allSql<StoredUpload>(
    `SELECT workspace_id, upload_id, file_name, size_bytes, object_key, sha256 FROM uploads
     WHERE status = 'stored' AND (workspace_id, upload_id) > (?, ?)
     ORDER BY workspace_id, upload_id LIMIT ?`,
    [after.workspaceId, after.id, limit],
  );
}

export async function isUploadStored(
  reader: Reader,
  workspaceId: string,
  uploadId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM uploads WHERE workspace_id = ? AND upload_id = ? AND status = 'stored'`,
    [workspaceId, uploadId],
  );
  return row !== undefined;
}
