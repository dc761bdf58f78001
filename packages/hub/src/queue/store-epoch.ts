import type { Reader, Tx } from '../db/engine.ts';
import { sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { Entry } from './entry.ts';

/*
 * The changes of a restore in the queue. Its statements are for all workspaces, as a restore is.
 */

/**
 * Begins another range of claim generations for every entry that may be claimed again, so that the
 * fence refuses all earlier attempts: those that the database knows and those that it has lost.
 */
export async function raiseEpochs(tx: Tx, epoch: number): Promise<void> {
  const mayRun = sql("status NOT IN ('done', 'canceled')");
  await updateRows(tx, 'queue_entries', { also: mayRun }, { epoch });
}

/** Running entries of all workspaces and queues. */
export function listRunning(reader: Reader, limit: number): Promise<Entry[]> {
  return reader.allSql<Entry>(
    `SELECT ${allColumns.queue_entries} FROM queue_entries WHERE status = 'running'
     ORDER BY workspace_id, entry_id LIMIT ?`,
    [limit],
  );
}
