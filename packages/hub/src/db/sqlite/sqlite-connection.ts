import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import type { Compilable } from 'kysely';
import type { Reader, SqlValue } from '../engine.ts';

/** How long a statement waits for another process, such as a CLI command, to let go. */
const BUSY_TIMEOUT_MS = 10_000;
/** Pages of the cache of a connection, in KiB; what falls out is still in the system's cache. */
const CACHE_KIB = 32_768;
/**
 * Pages of the log after which a commit copies it into the database file. Pages that change again
 * and again are copied once for all of it; a start after a crash reads at most that much.
 */
const CHECKPOINT_PAGES = 4_096;
/** Distinct statements are few and fixed; a bound keeps a mistake from becoming a leak. */
const STATEMENTS_MAX = 1_000;

/** A statement that is prepared once. */
interface Prepared {
  statement: StatementSync;
  /** An object with every column of its rows, in their order; null until there is a row. */
  shape: Readonly<Record<string, null>> | null;
  columns: readonly string[];
}

/** A connection with its prepared statements. */
export class Connection implements Reader {
  readonly engine = 'sqlite';
  readonly rowLock = '';
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  readonly #runStatements = new Map<string, StatementSync>();

  constructor(path: string, options: { readOnly: boolean }) {
    this.#db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly: options.readOnly });
    this.#db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    // What a savepoint would take back is kept page by page, for every action: not in a file.
    this.#db.exec('PRAGMA temp_store = MEMORY');
    if (options.readOnly) return;
    this.#db.exec('PRAGMA journal_mode = WAL');
    // A commit does not sync the log: `WriteAheadLog` does, before anybody is told of the commit.
    // What NORMAL still syncs by itself keeps the file whole through a power cut.
    this.#db.exec('PRAGMA synchronous = NORMAL');
    this.#db.exec('PRAGMA foreign_keys = ON');
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  }

  /** Whether a transaction is open. */
  get isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Runs a statement and counts the rows that it changed. */
  run(sql: string, values: readonly SqlValue[]): number {
    let statement = this.#runStatements.get(sql);
    if (statement === undefined) {
      statement = this.#keep(sql, this.#runStatements, this.#db.prepare(sql));
      // With the changes comes the last row id of the connection, whatever statement made it; those
      // of full-text search are too large for a number, and would be thrown after the fact.
      statement.setReadBigInts(true);
    }
    return Number(statement.run(...values).changes);
  }

  /** Runs a statement that changes no rows, such as COMMIT. */
  execute(sql: string): void {
    this.#prepare(sql).statement.get();
  }

  /**
   * Copies all of the log into the database file, syncs that, and empties the log.
   * @throws as SQLite does, also when a read is under way.
   */
  checkpoint(): void {
    const row = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    const { busy } = row as { busy: number };
    if (busy !== 0) throw new Error('the log is being read and cannot be emptied');
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const { sql, parameters } = query.compile();
    return this.allSql(sql, parameters as SqlValue[]);
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    const { sql, parameters } = query.compile();
    return this.firstSql(sql, parameters as SqlValue[]);
  }

  async allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    const prepared = this.#prepare(sql);
    // With setReturnArrays a row is a list of values, of which the types know nothing. What the
    // object of a row has, the statement's author knows.
    const rows = prepared.statement.all(...values) as unknown as SQLOutputValue[][];
    return rows.map((row) => shapeRow(prepared, row) as Row);
  }

  async firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined> {
    const prepared = this.#prepare(sql);
    const row = prepared.statement.get(...values) as unknown as SQLOutputValue[] | undefined;
    return row === undefined ? undefined : (shapeRow(prepared, row) as Row);
  }

  close(): void {
    this.#statements.clear();
    this.#runStatements.clear();
    this.#db.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    statement.setReturnArrays(true);
    return this.#keep(sql, this.#statements, { statement, shape: null, columns: [] });
  }

  #keep<T>(sql: string, statements: Map<string, T>, made: T): T {
    if (statements.size >= STATEMENTS_MAX) statements.clear();
    statements.set(sql, made);
    return made;
  }
}

/**
 * The object of a row. All rows of a statement are copies of one object, so that they share its
 * hidden class: those that node:sqlite makes itself are dictionaries, slow to read and to copy.
 */
function shapeRow(prepared: Prepared, values: readonly SQLOutputValue[]): object {
  // A migration may have added a column since.
  if (prepared.shape === null || prepared.columns.length !== values.length) {
    prepared.columns = prepared.statement.columns().map(({ name }) => name);
    // Parsed, because V8 makes a dictionary of an object that gets so many fields one by one.
    prepared.shape = JSON.parse(
      `{${prepared.columns.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`,
    );
  }
  const row: Record<string, SQLOutputValue> = { ...prepared.shape };
  // As many columns as values.
  for (let at = 0; at < values.length; at++) {
    row[prepared.columns[at] as string] = values[at] as SQLOutputValue;
  }
  return row;
}
