import { closeSync, fdatasync, openSync } from 'node:fs';
import type { Compilable } from 'kysely';
import type { Clock } from '../../clock.ts';
import { HubError } from '../../errors.ts';
import { makeCalls } from '../after-commit.ts';
import { createQueryBuilder } from '../build.ts';
import { StartError } from '../data-directory.ts';
import type { ConcurrentScope, Database, Gathering, Reader, SqlValue, Tx } from '../engine.ts';
import { gatherOne } from '../gather.ts';
import { isRead } from '../statement-shape.ts';
import { Connection } from './sqlite-connection.ts';
import { type SyncFile, WriteAheadLog } from './write-ahead-log.ts';

/** Actions of one transaction: enough to share a sync among, few enough to let I/O in between. */
const BATCH_ACTIONS_MAX = 256;

const OWNER_ONLY_MODE = 0o600;

/** Primary result codes after which SQLite itself can no longer write (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;
const SQLITE_NOMEM = 7;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const engineTroubles = new Set([
  SQLITE_BUSY,
  SQLITE_NOMEM,
  SQLITE_READONLY,
  SQLITE_IOERR,
  SQLITE_FULL,
  SQLITE_CANTOPEN,
]);

interface WaitingAction {
  /** Whether it may be run again: it was handed to `writeConcurrent`. */
  mayRestart: boolean;
  run: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** What became of an action within its batch, to be told once the batch is durable. */
interface SettledAction {
  action: WaitingAction;
  outcome: Outcome;
}

type Outcome = { value: unknown; calls: readonly (() => void)[] } | { error: unknown };

/** The actions of the transaction that is open. */
interface Batch {
  /** All that it took in, settled or not. */
  actions: WaitingAction[];
  settled: SettledAction[];
  /**
   * Whether each action has a savepoint of its own from now on. A savepoint costs a copy of each
   * page that is written after it, so as long as all may be run again there is none.
   */
  hasSavepoints: boolean;
  /** Whether there is anything to sync. */
  hasWritten: boolean;
}

/** Thrown by an action without a savepoint that failed after it wrote: all are to be run again. */
class Spoiled extends Error {}

/**
 * SQLite in one file: one writer, and a second connection for reads, which therefore see only what
 * is committed. Group commit: all actions that wait when the event loop comes round, and those that
 * come while the disk still syncs the transaction before, share one transaction and one sync. An
 * action that fails after it wrote is taken back alone: to its savepoint or, where the actions of
 * the transaction may be run again and so have none, by running the others again. A lone action
 * does not wait for company.
 */
class SqliteDatabase implements Database {
  readonly engine = 'sqlite';
  readonly build = createQueryBuilder('sqlite');
  readonly reader: Reader;
  readonly warnings = [];
  readonly #writer: Connection;
  readonly #readConnection: Connection;
  readonly #log: WriteAheadLog;
  readonly #clock: Clock;
  #waiting: WaitingAction[] = [];
  #working: Promise<void> | null = null;
  /** Ends the wait for the disk, because there is more to do. */
  #onArrival: (() => void) | null = null;
  /** The sync of the latest commit, while it is under way. */
  #unsynced: Promise<void> | null = null;
  #closed = false;

  constructor(path: string, clock: Clock, syncFile: SyncFile) {
    this.#clock = clock;
    this.#writer = new Connection(path, { readOnly: false });
    this.#readConnection = new Connection(path, { readOnly: true });
    this.#log = new WriteAheadLog(`${path}-wal`, syncFile);
    this.reader = answerDurable(this.#readConnection, () => this.#unsynced);
  }

  /** One writer: whatever its scope, an action is alone. */
  write<T>(_workspaceId: string | null, run: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#hand(run, false);
  }

  writeConcurrent<T>(_scope: ConcurrentScope, run: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#hand(run, true);
  }

  #hand<T>(run: (tx: Tx) => Promise<T>, mayRestart: boolean): Promise<T> {
    if (this.#closed) return Promise.reject(new HubError('UNAVAILABLE', 'The hub is stopping.'));
    return new Promise<T>((resolve, reject) => {
      // The promise's own resolve takes a T, and only the value of this very action reaches it.
      const settle = resolve as (value: unknown) => void;
      this.#waiting.push({ mayRestart, run, resolve: settle, reject });
      this.#onArrival?.();
      this.#working ??= this.#work();
    });
  }

  /** No-op: a file has no health monitor; each statement fails by itself. */
  setAvailable(): void {}

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#working !== null) await this.#working;
    while (this.#unsynced !== null) await this.#unsynced.catch(() => undefined);
    this.#log.close();
    this.#readConnection.close();
    this.#writer.close();
  }

  async #work(): Promise<void> {
    let batch: Batch | null = null;
    while (this.#waiting.length > 0 || batch !== null) {
      // After the poll phase, every request that this turn of the event loop brought is waiting.
      await new Promise<void>((resolve) => setImmediate(resolve));
      batch = await this.#fill(batch);
      if (batch === null) continue;
      if (this.#log.isSyncing && batch.settled.length < BATCH_ACTIONS_MAX) {
        if (this.#waiting.length === 0) await this.#waitForDisk();
        if (this.#log.isSyncing) continue;
      }
      this.#commit(batch);
      batch = null;
    }
    this.#working = null;
  }

  /** Runs the actions that wait in the open transaction, or in a new one. Null when it was lost. */
  async #fill(open: Batch | null): Promise<Batch | null> {
    if (this.#waiting.length === 0) return open;
    const batch = open ?? { actions: [], settled: [], hasSavepoints: false, hasWritten: false };
    const actions = this.#waiting.splice(0, BATCH_ACTIONS_MAX - batch.actions.length);
    batch.actions.push(...actions);
    try {
      if (open === null) this.#begin();
      for (const action of actions) await this.#runNext(batch, action);
      return batch;
    } catch (error) {
      this.#lose(error, batch.actions);
      return null;
    }
  }

  #begin(): void {
    if (this.#log.hasFailed) {
      // What the disk did not take is taken from the log into the database file, and synced there.
      this.#writer.checkpoint();
      this.#log.recover();
    }
    this.#writer.execute('BEGIN IMMEDIATE');
  }

  #commit({ actions, settled, hasWritten }: Batch): void {
    try {
      this.#writer.execute('COMMIT');
    } catch (error) {
      this.#lose(error, actions);
      return;
    }
    // What only read may still have read what is not synced yet.
    const synced = hasWritten ? this.#log.sync() : (this.#unsynced ?? Promise.resolve());
    if (hasWritten) this.#unsynced = synced;
    synced
      .then(
        () => tell(settled),
        (error: unknown) => {
          for (const action of actions) action.reject(toUnknown(error));
        },
      )
      .finally(() => {
        if (this.#unsynced === synced) this.#unsynced = null;
      });
  }

  #lose(error: unknown, actions: readonly WaitingAction[]): void {
    if (this.#writer.isInTransaction) this.#writer.execute('ROLLBACK');
    for (const action of actions) action.reject(toUnavailable(error));
  }

  /** Until the sync under way has ended, or something more is to be done. */
  async #waitForDisk(): Promise<void> {
    const arrival = new Promise<void>((resolve) => {
      this.#onArrival = resolve;
    });
    await Promise.race([arrival, this.#unsynced?.catch(() => undefined)]);
    this.#onArrival = null;
  }

  /** Throws only when the whole batch is lost; a refused action is an outcome. */
  async #runNext(batch: Batch, action: WaitingAction): Promise<void> {
    if (!action.mayRestart) batch.hasSavepoints = true;
    const tx = new SqliteTx(this.#writer, this.#clock.nowMs());
    try {
      const outcome = batch.hasSavepoints
        ? await this.#runInSavepoint(action, tx)
        : await this.#runBare(action, tx);
      batch.settled.push({ action, outcome });
      batch.hasWritten ||= tx.hasWritten;
    } catch (error) {
      if (!(error instanceof Spoiled)) throw error;
      await this.#runAgain(batch, action);
    }
  }

  /** Takes all of a batch back and runs it again, with what cannot be taken back alone. */
  async #runAgain(batch: Batch, spoiler: WaitingAction): Promise<void> {
    const actions = [...batch.settled.map(({ action }) => action), spoiler];
    this.#writer.execute('ROLLBACK');
    this.#begin();
    batch.settled = [];
    batch.hasSavepoints = true;
    for (const action of actions) await this.#runNext(batch, action);
  }

  /** @throws Spoiled when it cannot be taken back by itself. */
  async #runBare(action: WaitingAction, tx: SqliteTx): Promise<Outcome> {
    try {
      return { value: await action.run(tx), calls: tx.calls };
    } catch (error) {
      this.#throwIfLost(error);
      if (tx.hasWritten) throw new Spoiled();
      return { error };
    }
  }

  async #runInSavepoint(action: WaitingAction, tx: SqliteTx): Promise<Outcome> {
    this.#writer.execute('SAVEPOINT action');
    try {
      const value = await action.run(tx);
      this.#writer.execute('RELEASE action');
      return { value, calls: tx.calls };
    } catch (error) {
      this.#throwIfLost(error);
      this.#writer.execute('ROLLBACK TO action');
      this.#writer.execute('RELEASE action');
      return { error };
    }
  }

  /** SQLite ends the transaction by itself on a full disk and the like: all of it is gone. */
  #throwIfLost(error: unknown): void {
    if (!this.#writer.isInTransaction || isEngineTrouble(error)) throw error;
  }
}

/** Tells each action what became of it. */
function tell(settled: readonly SettledAction[]): void {
  for (const { outcome } of settled) if ('calls' in outcome) makeCalls(outcome.calls);
  for (const { action, outcome } of settled) {
    if ('error' in outcome) action.reject(outcome.error);
    else action.resolve(outcome.value);
  }
}

class SqliteTx implements Tx {
  readonly engine = 'sqlite';
  readonly rowLock = '';
  readonly nowMs: number;
  /** To be made when the action is durable. */
  readonly calls: (() => void)[] = [];
  /** Whether a statement has run that may have written. */
  hasWritten = false;
  readonly #writer: Connection;

  constructor(writer: Connection, nowMs: number) {
    this.#writer = writer;
    this.nowMs = nowMs;
  }

  all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const { sql, parameters } = query.compile();
    return this.allSql(sql, parameters as SqlValue[]);
  }

  first<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    const { sql, parameters } = query.compile();
    return this.firstSql(sql, parameters as SqlValue[]);
  }

  allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    this.hasWritten ||= !isRead(sql);
    return this.#writer.allSql(sql, values);
  }

  firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined> {
    this.hasWritten ||= !isRead(sql);
    return this.#writer.firstSql(sql, values);
  }

  run(query: Compilable<unknown>): Promise<{ changes: number }> {
    const { sql, parameters } = query.compile();
    return this.runSql(sql, parameters as SqlValue[]);
  }

  async runSql(sql: string, values: readonly SqlValue[]): Promise<{ changes: number }> {
    this.hasWritten = true;
    return { changes: this.#writer.run(sql, values) };
  }

  /** One writer: it is. */
  requireExclusive(): void {}

  gather<Input, Output>(work: Gathering<Input, Output>, input: Input): Promise<Output> {
    return gatherOne(this, work, input);
  }

  afterCommit(call: () => void): void {
    this.calls.push(call);
  }
}

function isEngineTrouble(error: unknown): boolean {
  // node:sqlite puts SQLite's extended code into errcode; its low byte is the primary one.
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' && engineTroubles.has(code & 0xff);
}

function toUnavailable(cause: unknown): HubError {
  return new HubError(
    'UNAVAILABLE',
    'The database cannot write now, so nothing of this request was kept; try again.',
    { cause, retryAfterMs: 1_000 },
  );
}

/** The disk did not take the log: whether it was kept will be seen. */
function toUnknown(cause: unknown): HubError {
  return new HubError(
    'UNAVAILABLE',
    'The disk does not take what is written, so this request may or may not be kept; try again.',
    { cause, retryAfterMs: 1_000 },
  );
}

/**
 * Reads that tell of nothing that a power cut could take back: what was committed a moment ago is
 * waited for. Those whose failure is the engine's, not the statement's, are refused like writes.
 */
function answerDurable(reader: Reader, unsynced: () => Promise<void> | null): Reader {
  const guard = async <T>(read: Promise<T>): Promise<T> => {
    // The statement has run by now: what it saw was committed before.
    const sync = unsynced();
    try {
      const rows = await read;
      if (sync !== null) await sync.catch(() => undefined);
      return rows;
    } catch (cause) {
      if (!isEngineTrouble(cause) && !isClosed(cause)) throw cause;
      throw new HubError('UNAVAILABLE', 'The database cannot be read now; try again.', {
        cause,
        retryAfterMs: 1_000,
      });
    }
  };
  return {
    engine: reader.engine,
    rowLock: reader.rowLock,
    all: (query) => guard(reader.all(query)),
    first: (query) => guard(reader.first(query)),
    allSql: (sql, values) => guard(reader.allSql(sql, values)),
    firstSql: (sql, values) => guard(reader.firstSql(sql, values)),
  };
}

/** A request that outlived the database, in a hub that stops. */
function isClosed(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_INVALID_STATE';
}

/**
 * Opens a file, created when it is not there, for reading and writing.
 *
 * @param path a file on a local disk; see `data-directory.ts` for what is refused.
 * @param clock the clock of `Tx.nowMs`.
 * @throws StartError when it is damaged, no database at all, or cannot be read.
 */
export function openSqlite(path: string, clock: Clock, syncFile: SyncFile = fdatasync): Database {
  // Made here for its mode: only the owner reads it. SQLite gives its log files the same mode.
  closeSync(openSync(path, 'a', OWNER_ONLY_MODE));
  try {
    return new SqliteDatabase(path, clock, syncFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') throw error;
    throw new StartError(
      `The database ${path} cannot be opened (${(error as Error).message}): restore it from a ` +
        'backup, or set SVC_DATA_DIR to another directory.',
      { cause: error },
    );
  }
}
