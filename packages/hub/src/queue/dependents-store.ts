import type { Reader, Tx } from '../db/engine.ts';
import type { QueueSettlementsTable } from '../db/schema/tables.ts';
import type { Entry } from './entry.ts';

/*
 * What waits for an entry to be done. Thousands may: they are told in pieces, and an entry of which
 * some are still to be told is noted as a settlement.
 */

/** Whether any entry waits for this one to be done. */
export async function hasDependents(
  reader: Reader,
  workspaceId: string,
  dependsOnEntryId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM queue_dependencies
     WHERE workspace_id = ? AND depends_on_entry_id = ? LIMIT 1`,
    [workspaceId, dependsOnEntryId],
  );
  return row !== undefined;
}

/**
 * Takes a met dependency off some of the entries that wait for it. Those that wait for nothing else
 * at all are ready at once.
 *
 * @returns how many were told, and the pending ones that have no dependency left.
 */
export async function meetDependency(
  tx: Tx,
  { workspace_id: workspaceId, entry_id: doneId }: QueueSettlementsTable,
  limit: number,
): Promise<{ told: number; freed: Entry[] }> {
  const waiting = await tx.allSql<{ entry_id: string }>(
    `SELECT entry_id FROM queue_dependencies
     WHERE workspace_id = ? AND depends_on_entry_id = ? ORDER BY entry_id LIMIT ?`,
    [workspaceId, doneId, limit],
  );
  const ids = JSON.stringify(waiting.map(({ entry_id }) => entry_id));
  const dependents = await tx.allSql<Entry>(
    `UPDATE queue_entries SET dependencies_unmet = dependencies_unmet - 1,
       hold = CASE WHEN status = 'pending' AND dependencies_unmet = 1 AND available_at <= ?
           AND concurrency_key IS NULL AND prefer_agent_id IS NULL
         THEN 'ready' ELSE hold END
     WHERE workspace_id = ? AND entry_id IN (SELECT value FROM json_each(?)) RETURNING *`,
    [tx.nowMs, workspaceId, ids],
  );
  await tx.runSql(
    `DELETE FROM queue_dependencies WHERE workspace_id = ? AND depends_on_entry_id = ?
       AND entry_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, doneId, ids],
  );
  const freed = dependents.filter(
    (entry) => entry.dependencies_unmet === 0 && entry.status === 'pending',
  );
  return { told: waiting.length, freed };
}

export async function insertSettlement(tx: Tx, done: QueueSettlementsTable): Promise<void> {
  await tx.runSql(
    `INSERT INTO queue_settlements (workspace_id, entry_id) VALUES (?, ?) ON CONFLICT DO NOTHING`,
    [done.workspace_id, done.entry_id],
  );
}

export async function deleteSettlement(tx: Tx, done: QueueSettlementsTable): Promise<void> {
  await tx.runSql('DELETE FROM queue_settlements WHERE workspace_id = ? AND entry_id = ?', [
    done.workspace_id,
    done.entry_id,
  ]);
}

/** An entry that is done and of whose dependents some are still to be told. */
export function readSettlement(
  reader: Reader,
  workspaceId: string | null,
): Promise<QueueSettlementsTable | undefined> {
  return workspaceId === null
    ? reader.firstSql('SELECT workspace_id, entry_id FROM queue_settlements LIMIT 1', [])
    : reader.firstSql(
        'SELECT workspace_id, entry_id FROM queue_settlements WHERE workspace_id = ? LIMIT 1',
        [workspaceId],
      );
}
