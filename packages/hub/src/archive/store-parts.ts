import type { Reader, Tx } from '../db/engine.ts';

/** A file of the archive. */
export interface ArchivePart {
  workspace_id: string;
  object_key: string;
  /** The month in which its jobs ended, such as 2026-11. */
  month: string;
  jobs: number;
  events: number;
  size_bytes: number;
  /** Hash of the whole file, lower-case hex. */
  sha256: string;
}

/** Registers a file before it is written, so that a file left by a crash is known. */
export async function insertPart(tx: Tx, part: ArchivePart): Promise<void> {
  await tx.runSql(
    `INSERT INTO archive_parts
       (workspace_id, object_key, month, jobs, events, size_bytes, sha256, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      part.workspace_id,
      part.object_key,
      part.month,
      part.jobs,
      part.events,
      part.size_bytes,
      part.sha256,
      tx.nowMs,
    ],
  );
}

/** Marks files as complete, so that the jobs in them may be deleted. */
export async function sealParts(tx: Tx, parts: readonly ArchivePart[]): Promise<void> {
  for (const part of parts) {
    const { changes } = await tx.runSql(
      'UPDATE archive_parts SET sealed_at = ? WHERE workspace_id = ? AND object_key = ?',
      [tx.nowMs, part.workspace_id, part.object_key],
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
  await tx.runSql(
    'DELETE FROM archive_parts WHERE workspace_id = ? AND object_key = ? AND sealed_at IS NULL',
    [part.workspace_id, part.object_key],
  );
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
