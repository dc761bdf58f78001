import type { Reader, Tx } from '../db/engine.ts';

/** A file of the archive. */
export interface ArchivePart {
  workspace_id: string;
  object_key: string;
  /** As in 2026-11: when its jobs ended. */
  month: string;
  jobs: number;
  events: number;
  size_bytes: number;
  /** Of the whole file, lower-case hex. */
  sha256: string;
}

/** Notes a file before it is written, so that what a crash leaves of it is known. */
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

/** The files are whole, and what is in them may go. */
export async function sealParts(tx: Tx, parts: readonly ArchivePart[]): Promise<void> {
  for (const part of parts) {
    const { changes } = await tx.runSql(
      'UPDATE archive_parts SET sealed_at = ? WHERE workspace_id = ? AND object_key = ?',
      [tx.nowMs, part.workspace_id, part.object_key],
    );
    // Nothing may go whose file was taken for forgotten and cleared away.
    if (changes !== 1) throw new Error(`the archive file ${part.object_key} is gone`);
  }
}

/** Files noted before a time that were never sealed, in all workspaces. */
export function listForgottenParts(
  reader: Reader,
  before: { createdAtMs: number; limit: number },
): Promise<Pick<ArchivePart, 'workspace_id' | 'object_key'>[]> {
  return reader.allSql(
    `SELECT workspace_id, object_key FROM archive_parts
     WHERE sealed_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?`,
    [before.createdAtMs, before.limit],
  );
}

/** Forgets a file that was never sealed. */
export async function deletePart(
  tx: Tx,
  part: Pick<ArchivePart, 'workspace_id' | 'object_key'>,
): Promise<void> {
  await tx.runSql(
    'DELETE FROM archive_parts WHERE workspace_id = ? AND object_key = ? AND sealed_at IS NULL',
    [part.workspace_id, part.object_key],
  );
}
