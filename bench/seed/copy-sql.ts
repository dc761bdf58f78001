import type { SeedDatabase } from './seed-database.ts';

/** Rows of one job in one table, to be copied under other ids. */
export interface Template {
  readonly table: string;
  /** `job_id` or `entry_id`, by which the table knows the job. */
  readonly idColumn: string;
  readonly columns: readonly string[];
  /** A temporary table that holds the rows. */
  readonly source: string;
}

/** A span of numbers; every number becomes one job. */
export interface Numbers {
  readonly from: number;
  readonly to: number;
  /** Milliseconds that number 0 lies at; one number is one millisecond. */
  readonly startMs: number;
  /** By which the times of a copy with number 0 differ from the template's. */
  readonly shiftMs: number;
}

/** Times that tell when something became of the job; a copy's lie where its number is. */
const timeColumns = new Set(
  'enqueued_at available_at created_at started_at finished_at sort_key at'.split(' '),
);
/** Unique, or only of use to whoever made the template. */
const emptiedColumns = new Set(['job_token_hash', 'claim_key']);

type Engine = SeedDatabase['engine'];

/** Copies a template once for each number. */
export function copyJobsSql(engine: Engine, template: Template, numbers: Numbers): string {
  const { table, columns, source, idColumn } = template;
  const values = columns.map((column) => {
    if (column === idColumn) return idSql(engine, 'job', 'n', 'n', numbers.startMs);
    if (column === 'event_id') return idSql(engine, 'evt', 'n', 'n * 16 + t.seq', numbers.startMs);
    if (emptiedColumns.has(column)) return 'NULL';
    if (timeColumns.has(column)) return `t.${column} + n + ${numbers.shiftMs}`;
    return `t.${column}`;
  });
  return insertSql(engine, table, columns, values, source, numbers);
}

/** Copies one row of a timeline behind it, so often; numbers become its seq. */
export function copyEventsSql(engine: Engine, template: Template, numbers: Numbers): string {
  const { table, columns, source } = template;
  const values = columns.map((column) => {
    if (column === 'seq') return 'n';
    if (column === 'event_id') return idSql(engine, 'evl', 'n', 'n', numbers.startMs);
    return `t.${column}`;
  });
  return insertSql(engine, table, columns, values, source, numbers);
}

/** The id of the copied job with a number, as `copyJobsSql` makes it. */
export function copiedJobId(number: number, startMs: number): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  return `job_${hex(startMs + number, 12)}${hex(number, 20)}`;
}

/** Like the hub's own: the time in front, so that ids rise. */
function idSql(engine: Engine, prefix: string, ms: string, rest: string, startMs: number): string {
  const time = `${startMs} + ${ms}`;
  if (engine === 'sqlite') return `printf('${prefix}_%012x%020x', ${time}, ${rest})`;
  const hex = (value: string, digits: number) => `lpad(to_hex((${value})::bigint), ${digits}, '0')`;
  return `'${prefix}_' || ${hex(time, 12)} || ${hex(rest, 20)}`;
}

/** In the order of the numbers, so that trees grow at their end. */
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
