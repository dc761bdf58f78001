import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/tables.ts';

/** An entry that is scheduled for deletion, as it was when it was scheduled. */
export interface Removal {
  workspace_id: string;
  entry_id: string;
  queue: QueueName;
  finished_at: number;
  /** Sequence number of its last event; 0 without a timeline. */
  last_seq: number;
}

/** Rows of one statement. */
const INSERTED_ROWS_MAX = 100;

/** Schedules entries for deletion. Rows that exist already stay unchanged. */
export async function insertRemovals(tx: Tx, removals: readonly Removal[]): Promise<void> {
  for (let from = 0; from < removals.length; from += INSERTED_ROWS_MAX) {
    const rows = removals.slice(from, from + INSERTED_ROWS_MAX);
    await tx.runSql(
      `INSERT INTO entry_removals (workspace_id, entry_id, queue, finished_at, last_seq)
       VALUES ${rows.map(() => '(?, ?, ?, ?, ?)').join(', ')} ON CONFLICT DO NOTHING`,
      rows.flatMap((row) => [
        row.workspace_id,
        row.entry_id,
        row.queue,
        row.finished_at,
        row.last_seq,
      ]),
    );
  }
}

export function listRemovals(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<Removal[]> {
  return reader.allSql<Removal>(
    `SELECT workspace_id, entry_id, queue, finished_at, last_seq FROM entry_removals
     WHERE workspace_id = ? ORDER BY entry_id LIMIT ?`,
    [workspaceId, limit],
  );
}

/** Those of some entries, of all workspaces, that are scheduled for deletion. */
export async function listScheduled(
  reader: Reader,
  entryIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await reader.allSql<Pick<Removal, 'entry_id'>>(
    'SELECT entry_id FROM entry_removals WHERE entry_id IN (SELECT value FROM json_each(?))',
    [JSON.stringify(entryIds)],
  );
  return new Set(rows.map(({ entry_id }) => entry_id));
}

export async function hasRemovals(reader: Reader, workspaceId: string): Promise<boolean> {
  const row = await reader.firstSql('SELECT 1 FROM entry_removals WHERE workspace_id = ? LIMIT 1', [
    workspaceId,
  ]);
  return row !== undefined;
}

export async function deleteRemovals(
  tx: Tx,
  workspaceId: string,
  entryIds: readonly string[],
): Promise<void> {
  if (entryIds.length === 0) return;
  await tx.runSql(
    `DELETE FROM entry_removals WHERE workspace_id = ?
       AND entry_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(entryIds)],
  );
}
