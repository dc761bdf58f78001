import type { KeptRead, Reader, Tx } from '../db/engine.ts';
import { isKnownEmpty } from '../db/kept-reads.ts';
import { deleteRows, insertNewRow, plus, sql, updateOf, writeReturning } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { QueueSettlementsTable } from '../db/schema/queue.ts';
import type { Entry } from './entry.ts';

/*
 * The entries that wait for another entry to be done. There may be thousands, so they are released
 * in batches. A row in `queue_settlements` names a done entry that still has dependents to release.
 */

export async function insertDependency(
  tx: Tx,
  workspaceId: string,
  dependsOnEntryId: string,
  entryId: string,
): Promise<void> {
  await insertNewRow(
    tx,
    'queue_dependencies',
    { workspace_id: workspaceId, depends_on_entry_id: dependsOnEntryId, entry_id: entryId },
    ['workspace_id', 'depends_on_entry_id', 'entry_id'],
  );
}

const anyDependency: KeptRead = {
  sql: 'SELECT 1 FROM queue_dependencies WHERE workspace_id = ? LIMIT 1',
  sources: ['queue_dependencies'],
};

/** Whether any entry waits for this one to be done. */
export async function hasDependents(
  reader: Reader,
  workspaceId: string,
  dependsOnEntryId: string,
): Promise<boolean> {
  if (await isKnownEmpty(reader, anyDependency, [workspaceId])) return false;
  const row = await reader.firstSql(
    `SELECT 1 FROM queue_dependencies
     WHERE workspace_id = ? AND depends_on_entry_id = ? LIMIT 1`,
    [workspaceId, dependsOnEntryId],
  );
  return row !== undefined;
}

/**
 * Removes a met dependency from a batch of the entries that wait for it. An entry without any other
 * reason to wait becomes ready in the same statement.
 *
 * @returns how many entries were updated, and the pending ones that have no dependency left.
 */
export async function meetDependency(
  tx: Tx,
  { workspace_id: workspaceId, entry_id: doneId }: QueueSettlementsTable,
  limit: number,
): Promise<{ updated: number; freed: Entry[] }> {
  const waiting = await tx.allSql<{ entry_id: string }>(
    `SELECT entry_id FROM queue_dependencies
     WHERE workspace_id = ? AND depends_on_entry_id = ? ORDER BY entry_id LIMIT ?`,
    [workspaceId, doneId, limit],
  );
  const ids = waiting.map(({ entry_id }) => entry_id);
  const hold = sql(
    `CASE WHEN status = 'pending' AND dependencies_unmet = 1 AND available_at <= ?
         AND concurrency_key IS NULL AND prefer_agent_id IS NULL
       THEN 'ready' ELSE hold END`,
    tx.nowMs,
  );
  const dependents = await writeReturning<Entry>(
    tx,
    updateOf(
      'queue_entries',
      { workspace_id: workspaceId, entry_id: ids },
      { dependencies_unmet: plus('dependencies_unmet', -1), hold },
    ),
    allColumns.queue_entries,
  );
  await deleteRows(tx, 'queue_dependencies', {
    workspace_id: workspaceId,
    depends_on_entry_id: doneId,
    entry_id: ids,
  });
  const freed = dependents.filter(
    (entry) => entry.dependencies_unmet === 0 && entry.status === 'pending',
  );
  return { updated: waiting.length, freed };
}

export async function insertSettlement(tx: Tx, done: QueueSettlementsTable): Promise<void> {
  const { workspace_id, entry_id } = done;
  await insertNewRow(tx, 'queue_settlements', { workspace_id, entry_id }, [
    'workspace_id',
    'entry_id',
  ]);
}

export async function deleteSettlement(tx: Tx, done: QueueSettlementsTable): Promise<void> {
  await deleteRows(tx, 'queue_settlements', {
    workspace_id: done.workspace_id,
    entry_id: done.entry_id,
  });
}

/** A done entry with dependents that are still to be released. */
export function readSettlement(
  reader: Reader,
  workspaceId: string,
): Promise<QueueSettlementsTable | undefined> {
  return reader.firstSql(
    'SELECT workspace_id, entry_id FROM queue_settlements WHERE workspace_id = ? LIMIT 1',
    [workspaceId],
  );
}

/** Deletes the dependencies of an entry that was canceled before they were met. */
export async function deleteDependencies(
  tx: Tx,
  workspaceId: string,
  entryId: string,
  dependsOn: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'queue_dependencies', {
    workspace_id: workspaceId,
    depends_on_entry_id: dependsOn,
    entry_id: entryId,
  });
}
