import type { Reader, Tx } from '../../db/engine.ts';
import {
  deleteOf,
  insertNewRow,
  plus,
  sql,
  updateOf,
  updateRows,
  writeReturning,
} from '../../db/row-write.ts';
import { allColumns } from '../../db/schema/columns.ts';
import type { UploadExtractsTable } from '../../db/schema/uploads.ts';

export type ExtractRow = UploadExtractsTable;
export type ExtractKey = Pick<ExtractRow, 'workspace_id' | 'content_hash' | 'format'>;

/** Requests the text of a document, unless it was requested before. */
export async function insertExtract(
  tx: Tx,
  row: ExtractKey & Pick<ExtractRow, 'upload_id'>,
): Promise<void> {
  await insertNewRow(
    tx,
    'upload_extracts',
    {
      ...keyOf(row),
      upload_id: row.upload_id,
      status: 'pending',
      reason: null,
      attempts: 0,
      available_at: tx.nowMs,
      truncated: 0,
      context_item_id: null,
      created_at: tx.nowMs,
      finished_at: null,
    },
    ['workspace_id', 'content_hash', 'format'],
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
  const isDue = sql(
    `(workspace_id, content_hash, format) IN (
       SELECT workspace_id, content_hash, format FROM upload_extracts
       WHERE status = 'pending' AND available_at <= ? ORDER BY available_at LIMIT ?)`,
    tx.nowMs,
    limit,
  );
  const claim = updateOf(
    'upload_extracts',
    { status: 'pending', also: isDue },
    { attempts: plus('attempts', 1), available_at: tx.nowMs + attemptMs },
  );
  return writeReturning<ExtractRow>(tx, claim, allColumns.upload_extracts);
}

/** Cancels an attempt that failed for reasons outside the document; it is due again later. */
export async function returnExtract(tx: Tx, key: ExtractKey, delayMs: number): Promise<void> {
  await updateRows(
    tx,
    'upload_extracts',
    { ...keyOf(key), status: 'pending' },
    { attempts: plus('attempts', -1), available_at: tx.nowMs + delayMs },
  );
}

/** @returns false when it was finished already. */
export async function finishExtract(
  tx: Tx,
  key: ExtractKey,
  end: Pick<ExtractRow, 'status' | 'reason' | 'truncated' | 'context_item_id'>,
): Promise<boolean> {
  const { status, reason, truncated, context_item_id } = end;
  const changes = await updateRows(
    tx,
    'upload_extracts',
    { ...keyOf(key), status: 'pending' },
    { status, reason, truncated, context_item_id, finished_at: tx.nowMs },
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
  const rows = await writeReturning<{ context_item_id: string | null }>(
    tx,
    deleteOf('upload_extracts', { workspace_id: workspaceId, content_hash: contentHash }),
    'context_item_id',
  );
  return rows.flatMap(({ context_item_id: itemId }) => (itemId === null ? [] : [itemId]));
}

function keyOf({ workspace_id, content_hash, format }: ExtractKey): ExtractKey {
  return { workspace_id, content_hash, format };
}
