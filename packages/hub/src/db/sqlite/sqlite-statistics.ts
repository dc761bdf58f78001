import type { Tx } from '../engine.ts';

/*
 * Without statistics SQLite assumes that few rows share a workspace, and then reads a whole
 * workspace where an index would have found one row. Real statistics (ANALYZE) would change with
 * the data, and the plans with them. So each migration writes the statistics that every
 * installation grows into: long tables, few workspaces, few values in the columns below.
 */

/** Assumed rows of a table, and of an index that holds only rows in a transient state. */
const TABLE_ROWS = 1_000_000;
const SELECTIVE_INDEX_ROWS = 10_000;
/** Tables that stay short however busy the hub is: people add their rows, or rows expire. */
const shortTables: Readonly<Record<string, number>> = {
  workspaces: 10,
  repositories: 200,
  queue_lanes: 500,
  agents: 1_000,
};
/** Assumed distinct values of a column; a column not named here almost identifies a row. */
const valuesByColumn: Readonly<Record<string, number>> = {
  workspace_id: 10,
  queue: 2,
  status: 3,
  kind: 8,
  hold: 3,
  repo_id: 20,
  lane_id: 50,
  agent_id: 100,
  concurrency_key: 100,
};
const VALUES_DEFAULT = 1_000;
/** Assumed rows that share all columns of an index that is not unique. */
const ROWS_PER_KEY_MIN = 2;

interface IndexRow {
  tableName: string;
  indexName: string;
  isUnique: number;
  /** 1 for a partial index of a state that few rows are in; `IS NOT NULL` is no such state. */
  isSelective: number;
}

/** Writes the statistics of every index, as sqlite.org/fileformat2.html#stat1tab describes. */
export async function writeStatistics(tx: Tx): Promise<void> {
  // Creates the statistics table, which an application may write but not create.
  await tx.runSql('ANALYZE schema_migrations', []);
  await tx.runSql('DELETE FROM sqlite_stat1', []);
  const indexes = await tx.allSql<IndexRow>(
    `SELECT t.name AS tableName, i.name AS indexName, i."unique" AS isUnique,
       (i.partial = 1 AND s.sql NOT LIKE '%IS NOT NULL%') AS isSelective
     FROM sqlite_schema t JOIN pragma_index_list(t.name) i
       LEFT JOIN sqlite_schema s ON s.name = i.name
     WHERE t.type = 'table'`,
    [],
  );
  for (const index of indexes) {
    const columns = await tx.allSql<{ name: string | null }>(
      'SELECT name FROM pragma_index_info(?) ORDER BY seqno',
      [index.indexName],
    );
    await tx.runSql('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)', [
      index.tableName,
      index.indexName,
      describeIndex(index, columns),
    ]);
  }
  // Makes this connection load the new statistics; others do when they see the new schema.
  await tx.runSql('ANALYZE sqlite_schema', []);
}

/** The rows of the index, then how many rows share each prefix of its columns. */
function describeIndex(index: IndexRow, columns: readonly { name: string | null }[]): string {
  const tableRows = shortTables[index.tableName] ?? TABLE_ROWS;
  const rows = index.isSelective === 1 ? Math.min(SELECTIVE_INDEX_ROWS, tableRows) : tableRows;
  const stat = [rows];
  let sharing = rows;
  for (const [at, { name }] of columns.entries()) {
    const isWholeKey = index.isUnique === 1 && at === columns.length - 1;
    sharing /= valuesByColumn[name ?? ''] ?? VALUES_DEFAULT;
    stat.push(isWholeKey ? 1 : Math.max(ROWS_PER_KEY_MIN, Math.ceil(sharing)));
  }
  return stat.join(' ');
}
