import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, updateRows } from '../db/row-write.ts';
import type { ArchivePartsTable } from '../db/schema/queue.ts';

/** A file of the archive. */
export type ArchivePart = Omit<ArchivePartsTable, 'created_at' | 'sealed_at'>;

/** Registers a file before it is written, so that a file left by a crash is known. */
export async function insertPart(tx: Tx, part: ArchivePart): Promise<void> {
  insertRow(tx, 'archive_parts', { ...part, created_at: tx.nowMs, sealed_at: null });
}

/** Marks files as complete, so that the jobs in them may be deleted. */
export async function sealParts(tx: Tx, parts: readonly ArchivePart[]): Promise<void> {
  for (const part of parts) {
    const changes = await updateRows(
      tx,
      'archive_parts',
      { workspace_id: part.workspace_id, object_key: part.object_key },
      { sealed_at: tx.nowMs },
    );
    // If the file was deleted as abandoned, its jobs must stay.
    if (changes !== 1) throw new Error(`the archive file ${part.object_key} was deleted`);
  }
}

/** Files of all workspaces that were registered before a time and never sealed. */
export function listAbandonedParts(
  reader: Reader,
  before: { createdAtMs: number; limit: number },
): Promise<Pick<ArchivePart, 'workspace_id' | 'object_key'>[]> {
  return reader.allSql(
    `SELECT workspace_id, object_key FROM archive_parts
     WHERE sealed_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?`,
    [before.createdAtMs, before.limit],
  );
}

/** Deletes the registration of a file that was never sealed. */
export async function deletePart(
  tx: Tx,
  part: Pick<ArchivePart, 'workspace_id' | 'object_key'>,
): Promise<void> {
  await deleteRows(tx, 'archive_parts', {
    workspace_id: part.workspace_id,
    object_key: part.object_key,
    sealed_at: null,
  });
}

/** Complete files of all workspaces, in the order of their keys. */
export function listSealedParts(
  reader: Reader,
  after: { workspaceId: string; key: string },
  limit: number,
): Promise<Pick<ArchivePart, 'workspace_id' | 'object_key' | 'size_bytes' | 'sha256'>[]> {
  return reader.allSql(
    `SELECT workspace_id, object_key, size_bytes, sha256 FROM archive_parts
     WHERE sealed_at IS NOT NULL AND (workspace_id, object_key) > (?, ?)
     ORDER BY workspace_id, object_key LIMIT ?`,
    [after.workspaceId, after.key, limit],
  );
}
