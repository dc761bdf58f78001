import { closeSync, fdatasync, openSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { HubError } from '../../base/errors.ts';
import { FairLine } from '../../base/fair-line.ts';
import { actingBeneficiary, actingCaller } from '../acting-caller.ts';
import { callAfterCommit } from '../after-commit.ts';
import { StartError } from '../data-directory.ts';
import { toBusy } from '../database-busy.ts';
import {
  type ConcurrentScope,
  type Database,
  NO_WORKSPACE,
  type NoteWrite,
  type Reader,
  type Tx,
  type WriteScope,
} from '../engine.ts';
import { type CheckpointOptions, Checkpoints } from './checkpoints.ts';
import { ReadPace } from './read-pace.ts';
import { Connection } from './sqlite-connection.ts';
import {
  isBusy,
  isClosed,
  isUnavailable,
  toDiskFailed,
  toReadFailed,
  toSyncFailed,
  toWriteFailed,
} from './sqlite-errors.ts';
import { writeStatistics } from './sqlite-statistics.ts';
import { SqliteTx } from './sqlite-tx.ts';
import { type SyncFile, WriteAheadLog } from './write-ahead-log.ts';

/** Actions of one transaction: enough to share a sync. */
const ACTIONS_MAX = 256;
/**
 * How long a transaction takes further actions, unless it has to wait for the disk anyway: its
 * actions are answered when all of them have run. Also how long actions run without a pause, so
 * that other requests are answered meanwhile.
 */
const TURN_MS_MAX = 10;
/** How long a transaction waits for another process, such as a CLI command, to end its own. */
const LOCK_MS_MAX = 10_000;
const LOCK_RETRY_MS = 25;

const OWNER_ONLY_MODE = 0o600;

interface WaitingAction {
  /** Whether it was handed to `writeConcurrent`, so that it may be run again. */
  mayRestart: boolean;
  run: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** An action that has run; its caller gets the outcome once the transaction is durable. */
interface SettledAction {
  action: WaitingAction;
  outcome: Outcome;
}

type Outcome = { value: unknown; calls: readonly (() => void)[] } | { error: unknown };

export interface SqliteOptions {
  /** Default `fs.fdatasync`. */
  syncFile?: SyncFile;
  /**
   * Called once when a sync has failed. From then on the database refuses everything and never
   * touches its files again; only a new process can tell what the disk has kept.
   */
  onDiskFailure?: (error: Error) => void;
  /**
   * Copies a log that an earlier process has left into the database file, before anything is
   * written. For the process that owns the file: the copy excludes all others meanwhile.
   */
  emptiesLog?: boolean;
  /** Pages of the log after which it is copied into the database file. */
  checkpointPages?: number;
  /** Copies the log. Default: in another thread; injected in tests. */
  copyLog?: CheckpointOptions['copyLog'];
  /** Measures how long actions take. Default `performance.now`; injected in tests. */
  elapsedMs?: () => number;
}

/** The open transaction and its actions. */
interface Transaction {
  /** All actions that it has taken, settled or not. */
  actions: WaitingAction[];
  settled: SettledAction[];
  /**
   * Whether each action gets its own savepoint from now on. A savepoint costs a copy of each page
   * that is written after it, so no savepoint is made as long as all actions may be run again.
   */
  hasSavepoints: boolean;
  /** Whether there is anything to sync. */
  hasWritten: boolean;
  /** How long its actions have run. */
  ranMs: number;
}

/**
 * Connections of databases whose disk failed. They are kept until the process ends, because a
 * connection that is garbage-collected is closed like any other.
 */
const abandonedConnections: Connection[] = [];

/** Thrown when an action without a savepoint fails after it wrote: all actions are run again. */
class Spoiled extends Error {}

/**
 * SQLite in one file: one connection for writes, and another for reads, which therefore see only
 * committed data. Group commit: all actions that wait in one turn of the event loop, and those that
 * arrive while the disk still syncs the previous transaction, share one transaction and one sync.
 * An action that fails after it wrote is undone without the others: by a rollback to its savepoint
 * or, where no action has one because all may be run again, by running the others again. A single
 * action does not wait for others. Workspaces and their callers have turns (`FairLine`), and a
 * transaction ends after some time, so that many or expensive actions of one caller neither precede
 * nor share a transaction with those of another.
 */
class SqliteDatabase implements Database {
  readonly engine = 'sqlite';
  readonly reader: Reader;
  readonly warnings = [];
  readonly #writer: Connection;
  readonly #readConnection: Connection;
  readonly #log: WriteAheadLog;
  readonly #checkpoints: Checkpoints;
  readonly #clock: Clock;
  readonly #onDiskFailure: (error: Error) => void;
  #diskFailure: Error | null = null;
  readonly #elapsedMs: () => number;
  readonly #waiting = new FairLine<WaitingAction>();
  #working: Promise<void> | null = null;
  /** Ends the wait for the disk because another action has arrived. */
  #onArrival: (() => void) | null = null;
  /** The sync of the latest commit, while it is in progress. */
  #unsynced: Promise<void> | null = null;
  #closed = false;
  #note: NoteWrite = () => undefined;

  constructor(path: string, clock: Clock, options: SqliteOptions) {
    const { syncFile = fdatasync, onDiskFailure = () => {}, emptiesLog } = options;
    this.#clock = clock;
    this.#elapsedMs = options.elapsedMs ?? (() => performance.now());
    this.#onDiskFailure = onDiskFailure;
    const keepsRows = { elapsedMs: this.#elapsedMs };
    this.#writer = new Connection(path, { readOnly: false, emptiesLog, keepsRows });
    this.#checkpoints = new Checkpoints(path, this.#writer, {
      pages: options.checkpointPages,
      onFailure: (error) => this.#failDisk(error),
      copyLog: options.copyLog,
    });
    try {
      this.#readConnection = new Connection(path, { readOnly: true });
      this.#log = new WriteAheadLog(`${path}-wal`, syncFile, (error) => this.#failDisk(error));
    } catch (error) {
      // The writer keeps the log and its index open otherwise.
      this.#writer.close();
      throw error;
    }
    this.reader = createDurableReader(
      this.#readConnection,
      () => this.#unsynced,
      () => this.#diskFailure,
    );
  }

  /** With a single writer, every action is exclusive. The scope decides whose turn it is. */
  write<T>(scope: WriteScope, run: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#enqueue(scope, run, false);
  }

  writeConcurrent<T>({ workspaceId }: ConcurrentScope, run: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#enqueue(workspaceId, run, true);
  }

  #enqueue<T>(scope: WriteScope, run: (tx: Tx) => Promise<T>, mayRestart: boolean): Promise<T> {
    if (this.#closed) return Promise.reject(new HubError('UNAVAILABLE', 'The hub is stopping.'));
    if (this.#diskFailure !== null) return Promise.reject(toDiskFailed(this.#diskFailure));
    return new Promise<T>((resolve, reject) => {
      // The promise's own resolve takes a T, and only the value of this very action reaches it.
      const settle = resolve as (value: unknown) => void;
      const workspace = typeof scope === 'string' ? scope : NO_WORKSPACE;
      const caller = actingCaller()?.key ?? '';
      this.#waiting.add({ workspace, caller }, { mayRestart, run, resolve: settle, reject });
      this.#onArrival?.();
      this.#working ??= this.#work();
    });
  }

  /** No-op: a file has no health monitor; each statement fails by itself. */
  setAvailable(): void {}

  watch(note: NoteWrite): void {
    this.#note = note;
  }

  schemaChanged(tx: Tx): Promise<void> {
    return writeStatistics(tx);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#working !== null) await this.#working;
    while (this.#unsynced !== null) await this.#unsynced.catch(() => undefined);
    if (this.#diskFailure !== null) {
      // Closing would copy the log into the database file by an index that may be wrong.
      abandonedConnections.push(this.#writer, this.#readConnection);
      return;
    }
    await this.#checkpoints.close();
    this.#log.close();
    this.#readConnection.close();
    this.#writer.close();
  }

  /** Refuses all that waits. The actions of the failed sync learn of it by its promise. */
  #failDisk(error: Error): void {
    if (this.#diskFailure !== null) return;
    this.#diskFailure = error;
    for (const action of this.#waiting.clear()) action.reject(toDiskFailed(error));
    this.#onDiskFailure(error);
  }

  async #work(): Promise<void> {
    let transaction: Transaction | null = null;
    while (this.#waiting.length > 0 || transaction !== null) {
      // After the poll phase, the actions of every request of this event loop turn are waiting.
      await nextTurn();
      transaction = await this.#runWaiting(transaction);
      if (transaction === null) continue;
      if (this.#log.isSyncing && transaction.settled.length < ACTIONS_MAX) {
        if (this.#waiting.length === 0) await this.#waitForDisk();
        if (this.#log.isSyncing) continue;
      }
      if (this.#diskFailure === null) this.#commit(transaction);
      else for (const action of transaction.actions) action.reject(toDiskFailed(this.#diskFailure));
      transaction = null;
    }
    this.#working = null;
  }

  /**
   * Runs the waiting actions in the open transaction, or in a new one.
   * @returns the transaction; null when it was lost.
   */
  async #runWaiting(open: Transaction | null): Promise<Transaction | null> {
    if (this.#waiting.length === 0) return open;
    if (open === null && !(await this.#begun())) return null;
    const transaction = open ?? {
      actions: [],
      settled: [],
      hasSavepoints: false,
      hasWritten: false,
      ranMs: 0,
    };
    try {
      let turnStartMs = performance.now();
      while (this.#takesMore(transaction)) {
        if (performance.now() - turnStartMs > TURN_MS_MAX) {
          await nextTurn();
          turnStartMs = performance.now();
        }
        await this.#runNextInLine(transaction);
      }
      return transaction;
    } catch (error) {
      this.#rejectAll(error, transaction.actions);
      return null;
    }
  }

  #takesMore({ actions, ranMs }: Transaction): boolean {
    if (this.#waiting.length === 0 || actions.length >= ACTIONS_MAX) return false;
    return ranMs <= TURN_MS_MAX || this.#log.isSyncing;
  }

  async #runNextInLine(transaction: Transaction): Promise<void> {
    const action = this.#waiting.next();
    // Cleared during the pause before, because the disk failed.
    if (action === undefined) return;
    transaction.actions.push(action);
    const startMs = this.#elapsedMs();
    await this.#runAction(transaction, action);
    const tookMs = this.#elapsedMs() - startMs;
    this.#waiting.charge(tookMs);
    transaction.ranMs += tookMs;
  }

  /** Begins a transaction, or refuses all that waits. */
  async #begun(): Promise<boolean> {
    try {
      await this.#checkpoints.beforeTransaction();
      await this.#begin();
      return true;
    } catch (error) {
      this.#rejectAll(error, this.#waiting.clear());
      return false;
    }
  }

  async #begin(): Promise<void> {
    const startMs = performance.now();
    while (!this.#tryBegin(performance.now() - startMs < LOCK_MS_MAX)) await delay(LOCK_RETRY_MS);
  }

  /** @returns false when another process holds the lock. */
  #tryBegin(mayRetry: boolean): boolean {
    try {
      this.#writer.execute('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (mayRetry && isBusy(error)) return false;
      throw error;
    }
  }

  #commit({ actions, settled, hasWritten }: Transaction): void {
    try {
      this.#writer.execute('COMMIT');
    } catch (error) {
      this.#rejectAll(error, actions);
      return;
    }
    // A transaction without writes may still have read commits that are not synced yet.
    const synced = hasWritten ? this.#log.sync() : (this.#unsynced ?? Promise.resolve());
    if (hasWritten) this.#unsynced = synced;
    synced
      .then(
        () => deliverOutcomes(settled),
        (error: unknown) => {
          for (const action of actions) action.reject(toSyncFailed(error));
        },
      )
      .finally(() => {
        if (this.#unsynced === synced) this.#unsynced = null;
      });
  }

  #rejectAll(error: unknown, actions: readonly WaitingAction[]): void {
    if (this.#writer.isInTransaction) this.#writer.execute('ROLLBACK');
    // SQLite may have rolled back by itself.
    this.#writer.kept?.clear();
    for (const action of actions) action.reject(toWriteFailed(error));
  }

  /** Waits until the sync in progress has ended or another action arrives. */
  async #waitForDisk(): Promise<void> {
    const arrival = new Promise<void>((resolve) => {
      this.#onArrival = resolve;
    });
    await Promise.race([arrival, this.#unsynced?.catch(() => undefined)]);
    this.#onArrival = null;
  }

  /** Throws only when the whole transaction is lost; an action that is refused is an outcome. */
  async #runAction(transaction: Transaction, action: WaitingAction): Promise<void> {
    if (!action.mayRestart) transaction.hasSavepoints = true;
    const tx = new SqliteTx(this.#writer, this.#clock.nowMs(), this.#note);
    try {
      const outcome = transaction.hasSavepoints
        ? await this.#runInSavepoint(action, tx)
        : await this.#runWithoutSavepoint(action, tx);
      transaction.settled.push({ action, outcome });
      transaction.hasWritten ||= tx.hasWritten;
    } catch (error) {
      if (!(error instanceof Spoiled)) throw error;
      await this.#runAllAgain(transaction, action);
    }
  }

  /** Rolls the transaction back and runs its actions again, now each in a savepoint. */
  async #runAllAgain(transaction: Transaction, spoiler: WaitingAction): Promise<void> {
    const actions = [...transaction.settled.map(({ action }) => action), spoiler];
    this.#writer.execute('ROLLBACK');
    await this.#begin();
    transaction.settled = [];
    transaction.hasSavepoints = true;
    for (const action of actions) await this.#runAction(transaction, action);
  }

  /** @throws Spoiled when the action failed after it wrote. */
  async #runWithoutSavepoint(action: WaitingAction, tx: SqliteTx): Promise<Outcome> {
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

  /** SQLite itself rolls the whole transaction back when the disk is full, for example. */
  #throwIfLost(error: unknown): void {
    if (!this.#writer.isInTransaction || isUnavailable(error)) throw error;
  }
}

/** Resolves or rejects the promise of each action. */
function deliverOutcomes(settled: readonly SettledAction[]): void {
  for (const { outcome } of settled) if ('calls' in outcome) callAfterCommit(outcome.calls);
  for (const { action, outcome } of settled) {
    if ('error' in outcome) action.reject(outcome.error);
    else action.resolve(outcome.value);
  }
}

/**
 * Returns rows at the pace of `ReadPace`, and only rows that survive a power cut: a read that saw a
 * commit which is still being synced waits for the sync. When the engine fails and not the
 * statement, a read gets 503 like a write.
 */
function createDurableReader(
  reader: Reader,
  unsynced: () => Promise<void> | null,
  diskFailure: () => Error | null,
): Reader {
  const pace = new ReadPace();
  const guard = async <T>(runRead: () => Promise<T>): Promise<T> => {
    try {
      const { rows, sync } = await pace.run(actingBeneficiary(), async () => {
        const read = runRead();
        // The statement has run by now, so it saw no commit later than this one.
        const sync = unsynced();
        return { rows: await read, sync };
      });
      if (sync !== null) await sync.catch(() => undefined);
      const failure = diskFailure();
      if (failure === null) return rows;
      throw toReadFailed(failure);
    } catch (cause) {
      if (!isUnavailable(cause) && !isClosed(cause)) throw cause;
      throw toReadFailed(cause);
    }
  };
  return {
    engine: reader.engine,
    rowLock: reader.rowLock,
    kept: null,
    allSql: (sql, values) => guard(() => reader.allSql(sql, values)),
    firstSql: (sql, values) => guard(() => reader.firstSql(sql, values)),
  };
}

export { copySqlite, openSqliteReader } from './sqlite-copy.ts';
export { findSqliteDamage } from './sqlite-damage.ts';

/**
 * Opens a database file for reading and writing; creates it if it does not exist.
 *
 * @param path a file on a local disk; `data-directory.ts` refuses network file systems.
 * @param clock the clock of `Tx.nowMs`.
 * @throws StartError when the file is damaged, is no database or cannot be read.
 */
export function openSqlite(path: string, clock: Clock, options: SqliteOptions = {}): Database {
  // Created here to set its mode: only the owner may read it. SQLite copies the mode to its log.
  closeSync(openSync(path, 'a', OWNER_ONLY_MODE));
  try {
    return new SqliteDatabase(path, clock, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') throw error;
    if (isBusy(error)) throw toBusy(error);
    throw new StartError(
      `The database ${path} cannot be opened (${(error as Error).message}): restore it from a ` +
        'backup, or set SVC_DATA_DIR to another directory.',
      { cause: error },
    );
  }
}
