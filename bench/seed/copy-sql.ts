import { firstIdSince } from '@signalbox/contract';
import type { SeedDatabase } from './seed-database.ts';

/** Rows of one job in one table, to be copied with other IDs. */
export interface Template {
  readonly table: string;
  /** The column with the job's ID, `job_id` or `entry_id`, or with its key, `job_key`. */
  readonly idColumn: string;
  readonly columns: readonly string[];
  /** A temporary table with the rows. */
  readonly source: string;
}

/** A range of numbers; each number becomes one job. */
export interface Numbers {
  readonly workspaceId: string;
  readonly from: number;
  readonly to: number;
  /** The time of number 0 in milliseconds; consecutive numbers are one millisecond apart. */
  readonly startMs: number;
  /** The time difference between the template and the copy with number 0. */
  readonly shiftMs: number;
}

/** Columns with times of the job; a copy gets times according to its number. */
const timeColumns = new Set(
  'enqueued_at available_at created_at started_at finished_at sort_key at'.split(' '),
);
/** Columns that are unique, or meaningful for the template only. */
const emptiedColumns = new Set(['job_token_hash', 'claim_key']);

type Engine = SeedDatabase['engine'];

/** Copies a template once per number. */
export function copyJobsSql(engine: Engine, template: Template, numbers: Numbers): string {
  const { table, columns, source, idColumn } = template;
  const values = columns.map((column) => {
    if (column === idColumn) return column === 'job_key' ? keySql(numbers) : idSql(numbers.startMs);
    if (emptiedColumns.has(column)) return 'NULL';
    if (timeColumns.has(column)) return `t.${column} + n + ${numbers.shiftMs}`;
    return `t.${column}`;
  });
  return insertSql(engine, table, columns, values, source, numbers);
}

/** Appends copies of one timeline row, one per number; the number becomes its seq. */
export function copyEventsSql(engine: Engine, template: Template, numbers: Numbers): string {
  const { table, columns, source } = template;
  const values = columns.map((column) => {
    if (column === 'seq') return 'n';
    return `t.${column}`;
  });
  return insertSql(engine, table, columns, values, source, numbers);
}

/** The ID of the copied job with a number, as created by `copyJobsSql`. */
export function copiedJobId(number: number, startMs: number): string {
  return `${firstIdSince('job', startMs + number)}${number.toString(32).padStart(11, '0')}`;
}

/** Like the hub's own IDs: the time comes first, so that IDs ascend. */
function idSql(startMs: number): string {
  return `'job_' || ${base32(`(${startMs} + n)`, 9)} || ${base32('n', 11)}`;
}

/** The key of a copied job. */
function keySql({ workspaceId, startMs }: Numbers): string {
  return `(SELECT j.job_key FROM jobs AS j
    WHERE j.workspace_id = '${workspaceId}' AND j.job_id = ${idSql(startMs)})`;
}

/** A number as so many digits of base32hex. */
function base32(number: string, digits: number): string {
  return Array.from({ length: digits }, (_, at) => {
    const digit = `((${number} >> ${5 * (digits - 1 - at)}) & 31)`;
    return `substr('0123456789abcdefghijklmnopqrstuv', 1 + CAST(${digit} AS INTEGER), 1)`;
  }).join(' || ');
}

/** Inserts in the order of the numbers, so that B-trees grow at their end. */
function insertSql(
  engine: Engine,
  table: string,
  columns: readonly string[],
  values: readonly string[],
  source: string,
  { from, to }: Numbers,
): string {
  const insert = `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')}`;
  if (engine === 'postgres') {
    return `${insert} FROM generate_series(${from}::bigint, ${to - 1}) n CROSS JOIN ${source} t`;
  }
  return (
    `WITH RECURSIVE numbers (n) AS (SELECT ${from} UNION ALL ` +
    `SELECT n + 1 FROM numbers WHERE n < ${to - 1}) ` +
    `${insert} FROM numbers CROSS JOIN ${source} t`
  );
}
