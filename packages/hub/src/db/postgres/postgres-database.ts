import type { Compilable } from 'kysely';
import { HubError } from '../../errors.ts';
import { createQueryBuilder } from '../build.ts';
import type { ConcurrentScope, Database, Reader, SqlValue, Tx } from '../engine.ts';
import { numberPlaceholders } from './merged-statement.ts';
import { isConnectionBroken, isUnavailable, toUnavailable } from './postgres-errors.ts';
import { type Answer, type SessionLimits, Sessions } from './postgres-session.ts';
import { runAlone, runBeside, type TestClock, type WaitingAction } from './postgres-transaction.ts';
import { StatementMerger } from './statement-merger.ts';

export interface PostgresOptions {
  url: string;
  /** Connections of this hub in all: some for reads, the rest for writes. */
  sessionsMax: number;
  limits: SessionLimits;
  /** Behind a pooler in transaction mode: no statement outlives its transaction. */
  isPooled: boolean;
  /** In tests: tells the time instead of the database. */
  clock?: TestClock;
}

/** Actions of one transaction: enough to share a commit among, few enough to be done soon. */
const ALONE_MAX = 32;
const BESIDE_MAX = 128;

/** The actions of one workspace, or of the hub, that wait or are under way. */
interface Scope {
  workspaceId: string | null;
  alone: WaitingAction[];
  beside: WaitingAction[];
  aloneUnderWay: number;
  besideUnderWay: number;
  /** Of these, transactions that are not being committed yet. */
  besideAtWork: number;
  /** Of the actions side by side that are under way. */
  keys: Set<string>;
}

/**
 * PostgreSQL, which several hubs may share. What one writer is on SQLite, advisory locks are here:
 * see `Database.write`. Group commit: the actions of a scope that wait when the event loop comes
 * round share one transaction; hot ones also share their statements (`postgres-merger.ts`). The
 * next transaction of hot ones starts when the statements of the one before are done: two at work
 * at once would have half the company each, and while one is committed the other works.
 */
export class PostgresDatabase implements Database {
  readonly engine = 'postgres';
  readonly build = createQueryBuilder('postgres');
  readonly reader: Reader;
  warnings: readonly string[] = [];
  readonly #readers: Sessions;
  readonly #writers: Sessions;
  readonly #merger: StatementMerger;
  readonly #clock: TestClock;
  readonly #scopes = new Map<string | null, Scope>();
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;

  constructor({ url, sessionsMax, limits, isPooled, clock = null }: PostgresOptions) {
    const readersMax = Math.max(1, Math.floor(sessionsMax / 3));
    const base = { url, limits, isPooled };
    this.#readers = new Sessions({ ...base, sessionsMax: readersMax });
    this.#writers = new Sessions({ ...base, sessionsMax: sessionsMax - readersMax });
    this.#merger = new StatementMerger(this.#readers);
    this.#clock = clock;
    this.reader = new PostgresReader(this.#readers);
  }

  write<T>(workspaceId: string | null, run: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#hand(workspaceId, 'alone', [], run);
  }

  writeConcurrent<T>(
    { workspaceId, keys }: ConcurrentScope,
    run: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    return this.#hand(workspaceId, 'beside', keys, run);
  }

  setAvailable(isAvailable: boolean): void {
    for (const sessions of [this.#readers, this.#writers]) sessions.setAvailable(isAvailable);
  }

  beginWith(settings: Readonly<Record<string, string | number>>): void {
    this.#writers.beginWith(settings);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#underWay.size > 0 || this.#scopes.size > 0) {
      await Promise.all(this.#underWay);
      await nextTurn();
    }
    await this.#merger.close();
    await Promise.all([this.#readers.close(), this.#writers.close()]);
  }

  #hand<T>(
    workspaceId: string | null,
    mode: 'alone' | 'beside',
    keys: readonly string[],
    run: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) return Promise.reject(new HubError('UNAVAILABLE', 'The hub is stopping.'));
    const scope = this.#scopeOf(workspaceId);
    return new Promise<T>((resolve, reject) => {
      // The promise's own resolve takes a T, and only the value of this very action reaches it.
      const settle = resolve as (value: unknown) => void;
      scope[mode].push({ keys, run, resolve: settle, reject, conflicts: 0 });
      this.#startSoon(scope);
    });
  }

  #scopeOf(workspaceId: string | null): Scope {
    let scope = this.#scopes.get(workspaceId);
    if (scope === undefined) {
      scope = {
        workspaceId,
        alone: [],
        beside: [],
        aloneUnderWay: 0,
        besideUnderWay: 0,
        besideAtWork: 0,
        keys: new Set(),
      };
      this.#scopes.set(workspaceId, scope);
    }
    return scope;
  }

  /** After the poll phase, every request that this turn of the event loop brought is waiting. */
  #startSoon(scope: Scope): void {
    const start = async () => {
      await nextTurn();
      if (scope.alone.length > 0 && scope.aloneUnderWay === 0) this.#startAlone(scope);
      if (scope.beside.length > 0 && scope.besideAtWork === 0) {
        this.#startBeside(scope);
      }
      this.#dropIdle(scope);
    };
    this.#track(start());
  }

  #startAlone(scope: Scope): void {
    const actions = scope.alone.splice(0, ALONE_MAX);
    scope.aloneUnderWay += 1;
    const run = async () => {
      const again = await this.#run(actions, (session) =>
        runAlone(session, scope.workspaceId, actions, this.#clock),
      );
      scope.aloneUnderWay -= 1;
      this.#startOver(scope, again);
    };
    this.#track(run());
  }

  #startBeside(scope: Scope): void {
    const { workspaceId } = scope;
    const actions = takeDisjoint(scope, BESIDE_MAX);
    if (workspaceId === null || actions.length === 0) return;
    scope.besideUnderWay += 1;
    scope.besideAtWork += 1;
    const keys = actions.flatMap((action) => action.keys);
    const run = async () => {
      let isAtWork = true;
      // While this one waits for the disk, the next may work.
      const onCommitting = () => {
        isAtWork = false;
        scope.besideAtWork -= 1;
        this.#startSoon(scope);
      };
      const shared = { merger: this.#merger, clock: this.#clock, onCommitting };
      const again = await this.#run(actions, (session) =>
        runBeside(session, workspaceId, actions, shared),
      );
      if (isAtWork) scope.besideAtWork -= 1;
      scope.besideUnderWay -= 1;
      for (const key of keys) scope.keys.delete(key);
      this.#startOver(scope, again);
    };
    this.#track(run());
  }

  async #run(
    actions: readonly WaitingAction[],
    work: (session: Awaited<ReturnType<Sessions['acquire']>>) => Promise<WaitingAction[]>,
  ): Promise<WaitingAction[]> {
    try {
      return await this.#writers.use(async (session) => {
        try {
          return await work(session);
        } catch (error) {
          // A session that has broken is closed; one that has not must not keep its transaction.
          await session.script('ROLLBACK').catch(() => session.discard());
          throw error;
        }
      });
    } catch (error) {
      const refusal = isUnavailable(error) ? toUnavailable(error) : error;
      for (const { reject } of actions) reject(refusal);
      return [];
    }
  }

  /** Whatever was in another's way, or another in its, gets the scope for itself. */
  #startOver(scope: Scope, again: WaitingAction[]): void {
    for (const action of again) action.conflicts += 1;
    scope.alone.unshift(...again);
    this.#startSoon(scope);
  }

  #dropIdle(scope: Scope): void {
    const waiting = scope.alone.length + scope.beside.length;
    if (waiting + scope.aloneUnderWay + scope.besideUnderWay > 0) return;
    if (this.#scopes.get(scope.workspaceId) === scope) this.#scopes.delete(scope.workspaceId);
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}

/** Of the actions that wait, those that share no key with each other or with one under way. */
function takeDisjoint(scope: Scope, limit: number): WaitingAction[] {
  const taken: WaitingAction[] = [];
  const left: WaitingAction[] = [];
  for (const action of scope.beside) {
    if (taken.length < limit && !action.keys.some((key) => scope.keys.has(key))) {
      for (const key of action.keys) scope.keys.add(key);
      taken.push(action);
    } else {
      left.push(action);
    }
  }
  scope.beside = left;
  return taken;
}

/** Reads of committed state, each on whichever connection is free. */
class PostgresReader implements Reader {
  readonly engine = 'postgres';
  readonly rowLock = '';
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const { sql, parameters } = query.compile();
    return this.allSql(sql, parameters as SqlValue[]);
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    return (await this.all(query))[0];
  }

  async allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    return (await this.#ask<Row>(numberPlaceholders(sql), values)).rows;
  }

  async firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.allSql<Row>(sql, values))[0];
  }

  /** A connection may have broken while it was idle; a read may be asked twice. */
  async #ask<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>> {
    const ask = () => this.#sessions.use((session) => session.read<Row>(text, values));
    try {
      return await ask().catch((error: unknown) => {
        if (!isConnectionBroken(error)) throw error;
        return ask();
      });
    } catch (error) {
      throw isUnavailable(error) ? toUnavailable(error) : error;
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function openPostgres(options: PostgresOptions): PostgresDatabase {
  return new PostgresDatabase(options);
}
