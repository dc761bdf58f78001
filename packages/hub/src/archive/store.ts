import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertNewRow } from '../db/row-write.ts';
import type { EntryRemovalsTable } from '../db/schema/queue.ts';

export type Removal = EntryRemovalsTable;

/** Schedules entries for deletion. Rows that exist already stay unchanged. */
export async function insertRemovals(tx: Tx, removals: readonly Removal[]): Promise<void> {
  const insert = (row: Removal) =>
    insertNewRow(tx, 'entry_removals', row, ['workspace_id', 'entry_id']);
  await Promise.all(removals.map(insert));
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
  await deleteRows(tx, 'entry_removals', { workspace_id: workspaceId, entry_id: entryIds });
}
