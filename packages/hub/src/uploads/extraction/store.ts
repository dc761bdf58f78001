import type { Reader, Tx } from '../../db/engine.ts';
import { updateRows } from '../../db/row-write.ts';
import { allColumns } from '../../db/schema/columns.ts';
import type { UploadExtractsTable } from '../../db/schema/uploads.ts';

export type ExtractRow = UploadExtractsTable;
export type ExtractKey = Pick<ExtractRow, 'workspace_id' | 'content_hash' | 'format'>;

const KEY = 'workspace_id = ? AND content_hash = ? AND format = ?';

/** Requests the text of a document, unless it was requested before. */
export async function insertExtract(
  tx: Tx,
  row: ExtractKey & Pick<ExtractRow, 'upload_id'>,
): Promise<void> {
  await tx.runSql(
    `INSERT INTO upload_extracts
       (workspace_id, content_hash, format, upload_id, status, attempts, available_at, truncated,
        created_at)
     VALUES (?, ?, ?, ?, 'pending', 0, ?, 0, ?)
     ON CONFLICT DO NOTHING`,
    [row.workspace_id, row.content_hash, row.format, row.upload_id, tx.nowMs, tx.nowMs],
  );
}

export async function hasDueExtract(reader: Reader, nowMs: number): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM upload_extracts WHERE status = 'pending' AND available_at <= ? LIMIT 1`,
    [nowMs],
  );
  return row !== undefined;
}

/**
 * Claims due extracts, in all workspaces, oldest first. Each claim counts as an attempt. The
 * extract is due again after `attemptMs` unless it is finished before: a crash costs an attempt,
 * not the text.
 */
export function claimDueExtracts(
  tx: Tx,
  { limit, attemptMs }: { limit: number; attemptMs: number },
): Promise<ExtractRow[]> {
  return tx.allSql<ExtractRow>(
    `UPDATE upload_extracts SET attempts = attempts + 1, available_at = ?
     WHERE status = 'pending' AND (workspace_id, content_hash, format) IN (
       SELECT workspace_id, content_hash, format FROM upload_extracts
       WHERE status = 'pending' AND available_at <= ? ORDER BY available_at LIMIT ?)
     RETURNING ${allColumns.upload_extracts}`,
    [tx.nowMs + attemptMs, tx.nowMs, limit],
  );
}

/** Cancels an attempt that failed for reasons outside the document; it is due again later. */
export async function returnExtract(tx: Tx, key: ExtractKey, delayMs: number): Promise<void> {
  await tx.runSql(
    `UPDATE upload_extracts SET attempts = attempts - 1, available_at = ?
     WHERE ${KEY} AND status = 'pending'`,
    [tx.nowMs + delayMs, ...valuesOf(key)],
  );
}

/** @returns false when it was finished already. */
export async function finishExtract(
  tx: Tx,
  key: ExtractKey,
  end: Pick<ExtractRow, 'status' | 'reason' | 'truncated' | 'context_item_id'>,
): Promise<boolean> {
  const { changes } = await tx.runSql(
    `UPDATE upload_extracts
     SET status = ?, reason = ?, truncated = ?, context_item_id = ?, finished_at = ?
     WHERE ${KEY} AND status = 'pending'`,
    [end.status, end.reason, end.truncated, end.context_item_id, tx.nowMs, ...valuesOf(key)],
  );
  return changes > 0;
}

/** Makes pending extracts read another upload of the same bytes. */
export async function moveExtracts(
  tx: Tx,
  upload: { workspace_id: string; sha256: string; upload_id: string },
  otherId: string,
): Promise<void> {
  await updateRows(
    tx,
    'upload_extracts',
    { workspace_id: upload.workspace_id, content_hash: upload.sha256, upload_id: upload.upload_id },
    { upload_id: otherId },
  );
}

/** Deletes the extracts of some bytes. @returns the ids of the context items with the texts. */
export async function deleteExtractsOf(
  tx: Tx,
  workspaceId: string,
  contentHash: string,
): Promise<string[]> {
  const rows = await tx.allSql<{ context_item_id: string | null }>(
    `DELETE FROM upload_extracts WHERE workspace_id = ? AND content_hash = ?
     RETURNING context_item_id`,
    [workspaceId, contentHash],
  );
  return rows.flatMap(({ context_item_id: itemId }) => (itemId === null ? [] : [itemId]));
}

function valuesOf({ workspace_id, content_hash, format }: ExtractKey): string[] {
  return [workspace_id, content_hash, format];
}
