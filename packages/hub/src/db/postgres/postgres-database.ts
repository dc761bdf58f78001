import { randomInt } from 'node:crypto';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { HubError } from '../../base/errors.ts';
import { FairTurns } from '../../base/fair-turns.ts';
import { actingBeneficiary, actingCaller } from '../acting-caller.ts';
import type {
  ConcurrentScope,
  Database,
  NoteWrite,
  Reader,
  SqlValue,
  Tx,
  WriteScope,
} from '../engine.ts';
import { readServerWarnings } from './check-server.ts';
import { EarlyReads } from './early-reads.ts';
import { ExclusiveLine } from './exclusive-line.ts';
import { numberPlaceholders } from './merged-statement.ts';
import {
  isConnectionBroken,
  isContention,
  isStalePlan,
  isUnavailable,
  toContended,
  toUnavailable,
} from './postgres-errors.ts';
import { type Answer, type Session, type SessionLimits, Sessions } from './postgres-session.ts';
import {
  type ExclusiveActions,
  type LockMode,
  runConcurrent,
  runExclusive,
  ScopeLocked,
  type TestClock,
  type WaitingAction,
} from './run-transaction.ts';
import { ShortReads } from './short-reads.ts';
import { type ServerWait, waitForServer } from './wait-for-server.ts';

interface PostgresOptions {
  url: string;
  /** Connections of this hub: a third for reads, the rest for writes. */
  sessionsMax: number;
  limits: SessionLimits;
  /** Behind a pooler in transaction mode: named statements end with their transaction. */
  isPooled: boolean;
  /** Gives the time in place of the database, in tests. */
  clock?: TestClock;
  /** Measures how long actions take; replaced in tests. */
  elapsedMs?: () => number;
}

/**
 * The share of the connections for reads that long reads may take: lists, searches and packs of one
 * caller would otherwise take all, and the short reads of agents would wait for them.
 */
const LONG_READS_SHARE = 1 / 2;

/** A read is made again as often when the schema changes meanwhile, as by a script of its owner. */
const SCHEMA_CHANGES_MAX = 5;

/** Concurrent actions of one transaction: enough to share a commit, few enough to end soon. */
const CONCURRENT_MAX = 128;

/** The pause between two tries of a transaction to lock its scope. Differs, so that waiters do not
 * try in step. */
const LOCK_PAUSE_MS = { min: 50, max: 250 };

/** The actions of one workspace, of a few, or of the hub, that wait or run. */
interface Scope {
  key: string | null;
  /** The ids that its transactions lock; null: the whole database. */
  ids: readonly string[] | null;
  /** Waiting actions by mode. */
  exclusive: ExclusiveLine;
  concurrent: WaitingAction[];
  /** Transactions in progress by mode. */
  exclusiveRunning: number;
  concurrentRunning: number;
  /** Transactions of concurrent actions that still run statements; the others are committing. */
  concurrentWorking: number;
  /** Keys of the concurrent actions that run. */
  keys: Set<string>;
}

/**
 * PostgreSQL, which several hubs may share. Advisory locks take the place of SQLite's single writer
 * (see `Database.write`). Group commit: the actions of a scope that wait in one turn of the event
 * loop share one transaction; concurrent ones also share statements (`merged-transaction.ts`). The
 * next transaction of concurrent actions starts when the statements of the one before are done: two
 * that ran statements at once would share each statement among half as many actions, but one may
 * run statements while the other commits.
 */
class PostgresDatabase implements Database {
  readonly engine = 'postgres';
  readonly reader: Reader;
  warnings: readonly string[] = [];
  readonly #readers: Sessions;
  readonly #writers: Sessions;
  readonly #earlyReads = new EarlyReads();
  readonly #clock: TestClock;
  readonly #elapsedMs: () => number;
  readonly #lockMs: number;
  readonly #url: string;
  readonly #scopes = new Map<string | null, Scope>();
  readonly #running = new Set<Promise<void>>();
  #closed = false;
  #note: NoteWrite = () => undefined;

  constructor(options: PostgresOptions) {
    const { url, sessionsMax, limits, isPooled, clock = null } = options;
    const readersMax = Math.max(1, Math.floor(sessionsMax / 3));
    this.#url = url;
    this.#lockMs = limits.lockMs;
    const base = { url, limits, isPooled };
    this.#readers = new Sessions({ ...base, sessionsMax: readersMax });
    this.#writers = new Sessions({ ...base, sessionsMax: sessionsMax - readersMax });
    this.#clock = clock;
    this.#elapsedMs = options.elapsedMs ?? (() => performance.now());
    const longReadsMax = Math.max(1, Math.floor(readersMax * LONG_READS_SHARE));
    this.reader = new PostgresReader(this.#readers, readersMax, longReadsMax);
  }

  write<T>(scope: WriteScope, run: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#enqueue(scope, 'exclusive', { keys: [], kind: undefined }, run);
  }

  writeConcurrent<T>(
    { workspaceId, keys, kind }: ConcurrentScope,
    run: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    // Of one workspace, whose rows the reads name.
    const own = kind === undefined ? undefined : `${workspaceId} ${kind}`;
    return this.#enqueue(workspaceId, 'concurrent', { keys, kind: own }, run);
  }

  setAvailable(isAvailable: boolean): void {
    for (const sessions of [this.#readers, this.#writers]) sessions.setAvailable(isAvailable);
  }

  watch(note: NoteWrite): void {
    this.#note = note;
  }

  /** No-op: PostgreSQL keeps its statistics up to date by itself. */
  async schemaChanged(): Promise<void> {}

  /**
   * Checks that a hub can rely on the server; sets `warnings`.
   * @param wait absent: the server must answer as soon as for requests.
   * @throws StartError
   */
  async checkServer(wait?: ServerWait): Promise<void> {
    if (wait !== undefined) await waitForServer([this.#readers, this.#writers], this.#url, wait);
    this.warnings = await readServerWarnings(this, this.#url);
  }

  /** Adds settings to every transaction of a write from now on. */
  beginWith(settings: Readonly<Record<string, string | number>>): void {
    this.#writers.beginWith(settings);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#running.size > 0 || this.#scopes.size > 0) {
      await Promise.all(this.#running);
      await nextTurn();
    }
    await Promise.all([this.#readers.close(), this.#writers.close()]);
  }

  #enqueue<T>(
    ids: WriteScope,
    mode: LockMode,
    { keys, kind }: Pick<WaitingAction, 'keys' | 'kind'>,
    run: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) return Promise.reject(new HubError('UNAVAILABLE', 'The hub is stopping.'));
    const scope = this.#scopeOf(ids);
    return new Promise<T>((resolve, reject) => {
      // The promise's own resolve takes a T, and only the value of this very action reaches it.
      const settle = resolve as (value: unknown) => void;
      const action = { keys, kind, run, resolve: settle, reject, conflicts: 0 };
      if (mode === 'exclusive') scope.exclusive.add(action);
      else scope.concurrent.push(action);
      this.#startSoon(scope);
    });
  }

  #scopeOf(wanted: WriteScope): Scope {
    const ids = typeof wanted === 'string' ? [wanted] : wanted;
    // No id has a space. The order of locks is that of the ids' numbers (`run-transaction.ts`).
    const key = typeof wanted === 'string' ? wanted : (ids?.toSorted().join(' ') ?? null);
    let scope = this.#scopes.get(key);
    if (scope === undefined) {
      scope = {
        key,
        ids,
        exclusive: new ExclusiveLine(),
        concurrent: [],
        exclusiveRunning: 0,
        concurrentRunning: 0,
        concurrentWorking: 0,
        keys: new Set(),
      };
      this.#scopes.set(key, scope);
    }
    return scope;
  }

  /** After the poll phase, the actions of every request of this event loop turn are waiting. */
  #startSoon(scope: Scope): void {
    const start = async () => {
      await nextTurn();
      if (scope.exclusive.length > 0 && scope.exclusiveRunning === 0) this.#startExclusive(scope);
      if (scope.concurrent.length > 0 && scope.concurrentWorking === 0) {
        this.#startConcurrent(scope);
      }
      this.#dropIdle(scope);
    };
    this.#track(start());
  }

  #startExclusive(scope: Scope): void {
    const first = scope.exclusive.next();
    if (first === undefined) return;
    const taken = [first];
    const actions: ExclusiveActions = {
      first,
      next() {
        const action = scope.exclusive.next();
        if (action !== undefined) taken.push(action);
        return action;
      },
      charge: (tookMs) => scope.exclusive.charge(tookMs),
      elapsedMs: this.#elapsedMs,
    };
    scope.exclusiveRunning += 1;
    const run = async () => {
      const restarts = await this.#run(taken, (session) =>
        runExclusive(session, scope.ids, actions, { clock: this.#clock, note: this.#note }),
      );
      scope.exclusiveRunning -= 1;
      this.#restart(scope, restarts);
    };
    this.#track(run());
  }

  #startConcurrent(scope: Scope): void {
    const { ids } = scope;
    const actions = takeDisjoint(scope, CONCURRENT_MAX);
    if (ids === null || actions.length === 0) return;
    scope.concurrentRunning += 1;
    scope.concurrentWorking += 1;
    const keys = actions.flatMap((action) => action.keys);
    const run = async () => {
      let isWorking = true;
      // While this transaction waits for the disk, the next one may run statements.
      const onCommitting = () => {
        isWorking = false;
        scope.concurrentWorking -= 1;
        this.#startSoon(scope);
      };
      const shared = { earlyReads: this.#earlyReads, clock: this.#clock, note: this.#note };
      const restarts = await this.#run(actions, (session) =>
        runConcurrent(session, ids, actions, { ...shared, onCommitting }),
      );
      if (isWorking) scope.concurrentWorking -= 1;
      scope.concurrentRunning -= 1;
      for (const key of keys) scope.keys.delete(key);
      this.#restart(scope, restarts);
    };
    this.#track(run());
  }

  /**
   * Runs a transaction. While its scope is locked, it gives back its locks and its connection and
   * tries again later, so that it delays no other scope.
   */
  async #run(
    actions: readonly WaitingAction[],
    work: (session: Session) => Promise<WaitingAction[]>,
  ): Promise<WaitingAction[]> {
    // As in PostgreSQL, 0 is no limit.
    const endMs = performance.now() + (this.#lockMs || Number.POSITIVE_INFINITY);
    for (;;) {
      try {
        return await this.#runOnce(work);
      } catch (error) {
        const isLocked = error instanceof ScopeLocked;
        if (!isLocked || performance.now() >= endMs) {
          const refusal = toRefusal(isLocked ? error.cause : error);
          for (const { reject } of actions) reject(refusal);
          return [];
        }
        await setTimeoutPromise(randomInt(LOCK_PAUSE_MS.min, LOCK_PAUSE_MS.max));
      }
    }
  }

  #runOnce(work: (session: Session) => Promise<WaitingAction[]>): Promise<WaitingAction[]> {
    return this.#writers.use(async (session) => {
      try {
        return await work(session);
      } catch (error) {
        // A broken session is closed; any other must not keep its transaction.
        await session.script('ROLLBACK').catch(() => session.discard());
        throw error;
      }
    });
  }

  /** Runs conflicting actions again, one at a time under the exclusive lock. */
  #restart(scope: Scope, actions: WaitingAction[]): void {
    for (const action of actions) action.conflicts += 1;
    scope.exclusive.restart(actions);
    this.#startSoon(scope);
  }

  #dropIdle(scope: Scope): void {
    const waiting = scope.exclusive.length + scope.concurrent.length;
    if (waiting + scope.exclusiveRunning + scope.concurrentRunning > 0) return;
    if (this.#scopes.get(scope.key) === scope) this.#scopes.delete(scope.key);
  }

  #track(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }
}

/** Takes waiting concurrent actions that share no key with each other or with one that runs. */
function takeDisjoint(scope: Scope, limit: number): WaitingAction[] {
  const taken: WaitingAction[] = [];
  const left: WaitingAction[] = [];
  for (const action of scope.concurrent) {
    if (taken.length < limit && !action.keys.some((key) => scope.keys.has(key))) {
      for (const key of action.keys) scope.keys.add(key);
      taken.push(action);
    } else {
      left.push(action);
    }
  }
  scope.concurrent = left;
  return taken;
}

/** Reads committed data, each statement on any free connection. */
class PostgresReader implements Reader {
  readonly engine = 'postgres';
  readonly rowLock = '';
  readonly kept = null;
  readonly #sessions: Sessions;
  /** Callers have turns for their long reads. */
  readonly #longReads: FairTurns;
  readonly #shortReads: ShortReads;

  constructor(sessions: Sessions, readersMax: number, longReadsMax: number) {
    this.#sessions = sessions;
    this.#shortReads = new ShortReads(sessions, Math.max(1, readersMax - longReadsMax));
    this.#longReads = new FairTurns(longReadsMax);
  }

  async allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    return (await this.#ask<Row>(numberPlaceholders(sql), values)).rows;
  }

  async firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.allSql<Row>(sql, values))[0];
  }

  /**
   * Retries once on another connection, because one may have broken while it was idle, and after
   * each change of the schema.
   */
  async #ask<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>> {
    const caller = actingCaller();
    const read = (session: Session) => session.read<Row>(text, values);
    const ask = () =>
      caller?.isLongRead
        ? this.#longReads.run(caller.key, () => this.#sessions.use(read))
        : this.#shortReads.run(actingBeneficiary(), read);
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        let triesMax = isConnectionBroken(error) ? 2 : 1;
        if (isStalePlan(error)) triesMax = SCHEMA_CHANGES_MAX;
        if (tries >= triesMax) throw toRefusal(error);
      }
    }
  }
}

/** The error that the caller of a failed transaction or read gets. */
function toRefusal(error: unknown): unknown {
  if (isUnavailable(error)) return toUnavailable(error);
  return isContention(error) ? toContended(error) : error;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

// `cluster/hub-link.ts` has a connection of its own and handles its errors like this engine.
export { readServerState, type ServerState } from './check-server.ts';
export { explainRefusal } from './explain-refusal.ts';
export { isDemoted, toUnavailable } from './postgres-errors.ts';
export { STARTUP_OPTIONS, severConnection } from './postgres-session.ts';
export type { ServerWait } from './wait-for-server.ts';

/** Connects when the first statement needs it, so it does not fail. */
export function openPostgres(options: PostgresOptions): PostgresDatabase {
  return new PostgresDatabase(options);
}
