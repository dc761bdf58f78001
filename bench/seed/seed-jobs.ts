import { copyEventsSql, copyJobsSql, type Numbers, type Template } from './copy-sql.ts';
import type { SeedDatabase } from './seed-database.ts';

/** Numbers of rows to seed. */
export interface SeedCounts {
  readonly pending: number;
  readonly finished: number;
  /** Events in the timeline of one job. */
  readonly events: number;
}

/** Jobs created by the hub itself through its API; the seeded rows are copies of theirs. */
export interface TemplateJobs {
  readonly workspaceId: string;
  readonly pendingJobId: string;
  readonly finishedJobId: string;
  /** A job whose last event is a log event. */
  readonly loggedJobId: string;
}

/** Rows per statement; small enough to keep the transaction log small. */
const PIECE_ROWS = 50_000;

/**
 * Fills the database of a stopped hub with years of jobs. Each is a copy of one created by the hub,
 * in every table with a job ID, so that this code need not know the hub's tables.
 */
export async function seedJobs(
  database: SeedDatabase,
  jobs: TemplateJobs,
  counts: SeedCounts,
  say: (line: string) => void,
): Promise<void> {
  const tables = await findJobTables(database);
  const restoreIndexes = await dropIndexes(database, tables);
  const total = counts.finished + counts.pending;
  // Older than the templates, so that the jobs of the load come last.
  const startMs = Date.now() - total - 60_000;
  const place = { workspaceId: jobs.workspaceId, startMs, shiftMs: -total };
  const finished = await readTemplates(database, tables, jobs.workspaceId, jobs.finishedJobId);
  await copyPieces(database, finished, { ...place, from: 1, to: counts.finished + 1 }, say);
  const pending = await readTemplates(database, tables, jobs.workspaceId, jobs.pendingJobId);
  await copyPieces(database, pending, { ...place, from: counts.finished + 1, to: total + 1 }, say);
  if (counts.events > 0) await seedEvents(database, jobs, counts.events);
  say('    indexes and statistics');
  await restoreIndexes();
  await database.settle(tables.map(({ table }) => table));
}

async function copyPieces(
  database: SeedDatabase,
  templates: readonly Template[],
  numbers: Numbers,
  say: (line: string) => void,
): Promise<void> {
  let reported = numbers.from;
  for (let from = numbers.from; from < numbers.to; from += PIECE_ROWS) {
    const piece = { ...numbers, from, to: Math.min(from + PIECE_ROWS, numbers.to) };
    for (const template of templates) {
      await database.run(copyJobsSql(database.engine, template, piece));
    }
    if (piece.to - reported < PIECE_ROWS * 10) continue;
    reported = piece.to;
    say(`    ${piece.to.toLocaleString('en')} jobs`);
  }
}

async function seedEvents(
  database: SeedDatabase,
  { workspaceId, loggedJobId }: TemplateJobs,
  count: number,
): Promise<void> {
  const { table } = eventTable;
  const source = 'seed_events';
  await database.run(`CREATE TEMPORARY TABLE ${source} AS SELECT * FROM ${table}
    WHERE ${whereJob(eventTable, workspaceId, loggedJobId)} ORDER BY seq DESC LIMIT 1`);
  const [row] = await database.read(`SELECT * FROM ${source}`);
  if (row === undefined) throw new Error('the template of a long timeline must have events');
  const template = { ...eventTable, source, columns: Object.keys(row) };
  const first = Number(row.seq) + 1;
  const startMs = Date.now();
  for (let from = first; from < first + count; from += PIECE_ROWS) {
    const to = Math.min(from + PIECE_ROWS, first + count);
    const numbers = { workspaceId, from, to, startMs, shiftMs: 0 };
    await database.run(copyEventsSql(database.engine, template, numbers));
  }
}

interface JobTable {
  readonly table: string;
  readonly idColumn: string;
}

/** The table that refers to a job by its key. */
const eventTable: JobTable = { table: 'job_events', idColumn: 'job_key' };

function whereJob({ idColumn }: JobTable, workspaceId: string, jobId: string): string {
  return idColumn === 'job_key'
    ? `job_key = (SELECT j.job_key FROM jobs AS j
        WHERE j.workspace_id = '${workspaceId}' AND j.job_id = '${jobId}')`
    : `workspace_id = '${workspaceId}' AND ${idColumn} = '${jobId}'`;
}

/** Finds every table with a job ID, and that of events behind them, because it needs their keys. */
async function findJobTables(database: SeedDatabase): Promise<JobTable[]> {
  const rows = await database.read(
    database.engine === 'sqlite'
      ? `SELECT m.name AS table_name, c.name AS column_name FROM sqlite_master m
           JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
           AND c.name IN ('job_id', 'entry_id') ORDER BY 1, 2`
      : `SELECT table_name, column_name FROM information_schema.columns
           WHERE table_schema = current_schema() AND column_name IN ('job_id', 'entry_id')
           ORDER BY 1, 2`,
  );
  const tables = rows.map((row) => ({
    table: String(row.table_name),
    idColumn: String(row.column_name),
  }));
  return [...tables, eventTable];
}

/**
 * Copies the rows of one job to a temporary table, because selecting from a growing table would
 * never end.
 */
async function readTemplates(
  database: SeedDatabase,
  tables: readonly JobTable[],
  workspaceId: string,
  jobId: string,
): Promise<Template[]> {
  const templates: Template[] = [];
  for (const each of tables) {
    const { table, idColumn } = each;
    const source = `seed_${table}_${jobId.slice(-8)}`;
    await database.run(`CREATE TEMPORARY TABLE ${source} AS SELECT * FROM ${table}
      WHERE ${whereJob(each, workspaceId, jobId)}`);
    const [row] = await database.read(`SELECT * FROM ${source} LIMIT 1`);
    if (row !== undefined) {
      // A copy of a job gets a key of its own.
      const columns = Object.keys(row).filter((name) => table !== 'jobs' || name !== 'job_key');
      templates.push({ table, idColumn, source, columns });
    }
  }
  return templates;
}

/**
 * Drops indexes that are faster to recreate after millions of rows; returns a function to do so.
 */
async function dropIndexes(
  database: SeedDatabase,
  tables: readonly JobTable[],
): Promise<() => Promise<void>> {
  const names = tables.map(({ table }) => `'${table}'`).join(', ');
  const rows = await database.read(
    database.engine === 'sqlite'
      ? `SELECT name, sql AS definition FROM sqlite_master
           WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (${names})`
      : `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
           WHERE schemaname = current_schema() AND tablename IN (${names})
           AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
  );
  for (const { name } of rows) await database.run(`DROP INDEX ${name}`);
  return async () => {
    for (const { definition } of rows) await database.run(String(definition));
  };
}
