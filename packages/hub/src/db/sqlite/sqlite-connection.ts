import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { StartError } from '../data-directory.ts';
import type { Reader, RowWrite, SqlValue, TextWrite, Written } from '../engine.ts';
import { KeptRows } from './kept-rows.ts';

/** How long opening waits for a lock of another process, such as a CLI command. */
const OPEN_BUSY_MS = 10_000;
/** The same for a statement. It stops the event loop, so `SqliteDatabase` waits between tries. */
const STATEMENT_BUSY_MS = 5;
/** Page cache of a connection, in KiB. Evicted pages are still in the system's cache. */
const CACHE_KIB = 32_768;
/** Distinct statements are few and fixed; the limit keeps a mistake from becoming a leak. */
const STATEMENTS_MAX = 1_000;

/** A prepared statement and the form of its rows. */
interface Prepared {
  statement: StatementSync;
  returnsRows: boolean;
  /** An object with every column of the rows, in their order; null until the first row. */
  shape: Readonly<Record<string, null>> | null;
  columns: readonly string[];
}

interface ConnectionOptions {
  readOnly: boolean;
  /** Copies the log that an earlier process has left into the database file at once. */
  emptiesLog?: boolean | undefined;
  /** Keeps rows that change rarely, by this measure of time. For the connection that writes. */
  keepsRows?: { elapsedMs: () => number } | undefined;
}

/** A connection with its prepared statements. */
export class Connection implements Reader {
  readonly engine = 'sqlite';
  readonly rowLock = '';
  readonly kept: KeptRows | null;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();

  constructor(path: string, options: ConnectionOptions) {
    this.kept =
      options.keepsRows === undefined ? null : new KeptRows(this, options.keepsRows.elapsedMs);
    this.#db = new DatabaseSync(path, { timeout: OPEN_BUSY_MS, readOnly: options.readOnly });
    try {
      this.#configure(options);
    } catch (error) {
      // An open connection would keep its locks, and the caller has none to close.
      this.#db.close();
      throw error;
    }
  }

  #configure(options: ConnectionOptions): void {
    this.#db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    // Each action's savepoint keeps copies of the pages that it changes: in memory, not in a file.
    this.#db.exec('PRAGMA temp_store = MEMORY');
    if (!options.readOnly) this.#openForWriting(options);
    this.#db.exec(`PRAGMA busy_timeout = ${STATEMENT_BUSY_MS}`);
  }

  #openForWriting(options: ConnectionOptions): void {
    this.#db.exec('PRAGMA journal_mode = WAL');
    // A commit does not sync the log: `WriteAheadLog` does, before the action's caller gets the
    // result. What NORMAL still syncs by itself keeps the file intact through a power cut.
    this.#db.exec('PRAGMA synchronous = NORMAL');
    // macOS: a plain sync leaves the data in the drive's own cache. Elsewhere this changes nothing.
    this.#db.exec('PRAGMA checkpoint_fullfsync = ON');
    this.#db.exec('PRAGMA foreign_keys = ON');
    // No commit copies the log, because that would stop the event loop: `Checkpoints` does.
    this.#db.exec('PRAGMA wal_autocheckpoint = 0');
    if (options.emptiesLog) this.#emptyLog();
  }

  /**
   * Copies the whole log into the database file, syncs the file and empties the log.
   * @throws StartError while another process reads, and as SQLite does.
   */
  #emptyLog(): void {
    const row = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    const { busy } = row as { busy: number };
    if (busy !== 0) {
      throw new StartError(
        'The database is busy: another program uses it, so that its log cannot be emptied. End ' +
          'that program, and try again.',
      );
    }
  }

  /** Whether a transaction is open. */
  get isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Counts the pages of the log that are not in the database file yet. */
  countUncopiedPages(): number {
    const row = this.#prepare('PRAGMA wal_checkpoint(NOOP)').statement.get();
    // With setReturnArrays: whether a lock was busy, pages of the log, pages copied.
    const [, pages, copied] = row as unknown as [number, number, number];
    return pages - copied;
  }

  /** Runs a statement that writes. */
  write(text: string, values: readonly SqlValue[], about?: TextWrite | RowWrite): Written {
    const { statement, returnsRows } = this.#prepare(text);
    this.kept?.noteWrite(about);
    if (!returnsRows) return { changes: Number(statement.run(...values).changes), rows: [] };
    const rows = this.#all<object>(text, values);
    return { changes: rows.length, rows };
  }

  /** Runs a statement of transactions, such as COMMIT. */
  execute(sql: string): void {
    this.#prepare(sql).statement.get();
    if (sql.startsWith('ROLLBACK')) this.kept?.clear();
  }

  /** Changes when another connection has changed the database. */
  dataVersion(): number {
    // With setReturnArrays, a row is a list of values.
    const [version] = this.#prepare('PRAGMA data_version').statement.get() as unknown as [number];
    return version;
  }

  async allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    return this.#all(sql, values);
  }

  #all<Row>(sql: string, values: readonly SqlValue[]): Row[] {
    const prepared = this.#prepare(sql);
    // With setReturnArrays a row is a list of values, which the types do not express. The author of
    // the statement vouches for the type of its rows.
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
    this.#db.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    const returnsRows = statement.columns().length > 0;
    if (returnsRows) statement.setReturnArrays(true);
    // With the changes, node:sqlite reads the connection's last row id. Those of full-text search
    // are too large for a number, and reading one would throw after the statement has run.
    else statement.setReadBigInts(true);
    const prepared: Prepared = { statement, returnsRows, shape: null, columns: [] };
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

/**
 * Makes the object of a row. All rows of a statement are copies of one object and so share its
 * hidden class; the objects of node:sqlite are dictionaries, which are slow to read and to copy.
 */
function shapeRow(prepared: Prepared, values: readonly SQLOutputValue[]): object {
  // A migration may have added a column since.
  if (prepared.shape === null || prepared.columns.length !== values.length) {
    prepared.columns = prepared.statement.columns().map(({ name }) => name);
    // Parsed, because V8 makes an object a dictionary when it gets this many fields one by one.
    prepared.shape = JSON.parse(
      `{${prepared.columns.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`,
    );
  }
  const row: Record<string, SQLOutputValue> = { ...prepared.shape };
  // There are as many columns as values.
  for (let at = 0; at < values.length; at++) {
    row[prepared.columns[at] as string] = values[at] as SQLOutputValue;
  }
  return row;
}
