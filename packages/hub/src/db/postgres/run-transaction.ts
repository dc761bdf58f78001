import { HubError } from '../../base/errors.ts';
import { callAfterCommit } from '../after-commit.ts';
import type { NoteWrite, Tx } from '../engine.ts';
import type { EarlyReads } from './early-reads.ts';
import { numberPlaceholders } from './merged-statement.ts';
import { MergedTransaction } from './merged-transaction.ts';
import {
  isConflict,
  isContention,
  isDatabaseError,
  isLockTimeout,
  isTimeLimit,
  isUnavailable,
  toContended,
  toUnavailable,
} from './postgres-errors.ts';
import type { Session } from './postgres-session.ts';
import { type ActionTx, NotBegun, openTx } from './postgres-tx.ts';

/** An action that waits to run. */
export interface WaitingAction {
  keys: readonly string[];
  /** See `ConcurrentScope`. */
  kind: string | undefined;
  run: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** How often it was restarted because another action interfered. */
  conflicts: number;
}

/** Gives the time in place of the database; null outside of tests. */
export type TestClock = (() => number) | null;

export type LockMode = 'exclusive' | 'concurrent';

/** The lock that a transaction takes. */
interface LockScope {
  /** Ids, mostly of one workspace; null: the whole database. */
  ids: readonly string[] | null;
  mode: LockMode;
}

/** Thrown when the scope is locked. Nothing has run, so the transaction can be tried again. */
export class ScopeLocked extends Error {}

/** Thrown by `requireExclusive` to leave an action that is going to be restarted. */
class ExclusiveNeeded extends Error {}

/** How an action ended; its caller learns it once the transaction is durable. */
type Outcome =
  | { kind: 'value'; value: unknown; calls: (() => void)[] }
  | { kind: 'refused'; error: unknown }
  /** To be restarted under the exclusive lock; after an error, the transaction has failed. */
  | { kind: 'restart'; isFailed: boolean }
  /** To be run again when its transaction has begun; it has only read. */
  | { kind: 'early' };

/** Conflicts of one action in a row. More are a fault of the hub, and the error is reported. */
const CONFLICTS_MAX = 5;

/** Tells Signalbox's advisory locks from those of other programs in the same database. */
const LOCK_CLASS = 0x51_9b;
const HUB_LOCK = 0;

/**
 * How long a transaction waits for a lock of its scope before it is rolled back and tried again.
 * Meanwhile it keeps a connection, and others wait for the locks that it holds and queue behind the
 * one that it waits for.
 */
const LOCK_TRY_MS = 250;

/**
 * Writes touch few rows, so they join them by an index as well. For all transactions, because a
 * session keeps the plan of a statement whichever transaction it was made in.
 */
const JOINS_BY_INDEX = ['hashjoin', 'mergejoin']
  .map((way) => `SET LOCAL enable_${way} = off;`)
  .join(' ');

/** The same for all transactions of a database. */
interface TransactionParts {
  /** Used in place of the database's, in tests. */
  clock: TestClock;
  note: NoteWrite;
}

/** The actions of an exclusive transaction. */
export interface ExclusiveActions {
  readonly first: WaitingAction;
  /** Takes the next action; undefined when the transaction is to end. */
  next(): WaitingAction | undefined;
  /** Called with the time that the latest action took. */
  charge(tookMs: number): void;
  /** Milliseconds since some moment. */
  elapsedMs(): number;
}

/** How an action ended, and the action. */
interface Ended {
  action: WaitingAction;
  outcome: Outcome;
}

/**
 * How long a transaction takes further actions. All others of the scope wait for its lock
 * meanwhile, and after them those that wait behind a lock of the whole database.
 */
const EXCLUSIVE_MS = 20;

/**
 * Runs actions one after the other in one transaction, for a limited time. The first one needs no
 * savepoint: when it fails, it was alone, and the transaction ends with it. Each further one has a
 * savepoint, as on SQLite.
 *
 * @returns the actions to restart.
 */
export async function runExclusive(
  session: Session,
  ids: readonly string[] | null,
  actions: ExclusiveActions,
  { clock, note }: TransactionParts,
): Promise<WaitingAction[]> {
  const nowMs = await begin(session, { ids, mode: 'exclusive' }, clock);
  const open = () => openTx(session, { nowMs }, { note });
  const startMs = actions.elapsedMs();
  const { first } = actions;
  const ended: Ended[] = [{ action: first, outcome: await runBounded(first, open()) }];
  actions.charge(actions.elapsedMs() - startMs);
  if (ended[0]?.outcome.kind !== 'value') {
    await session.script('ROLLBACK');
    return deliverOutcomes(ended);
  }
  let savepoint = 'SAVEPOINT action';
  while (actions.elapsedMs() - startMs < EXCLUSIVE_MS) {
    const action = actions.next();
    if (action === undefined) break;
    const beganMs = actions.elapsedMs();
    const outcome = await runInSavepoint(savepoint, action, session, open());
    ended.push({ action, outcome });
    savepoint = 'RELEASE action; SAVEPOINT action';
    if (outcome.kind !== 'value') await session.script('ROLLBACK TO action');
    actions.charge(actions.elapsedMs() - beganMs);
  }
  if (!(await commit(session))) throw new Error('the transaction had failed before its commit');
  return deliverOutcomes(ended);
}

export interface ConcurrentParts extends TransactionParts {
  earlyReads: EarlyReads;
  /** Called when the statements are done and only the commit is left. */
  onCommitting: () => void;
}

/**
 * Runs actions concurrently in one transaction and merges statements of the same text that they ask
 * for at the same time. An action that is refused before it wrote anything does not affect the
 * others; after any other failure the transaction is rolled back and all its actions are restarted.
 * The first reads leave together with BEGIN, and the last writes together with COMMIT.
 *
 * @returns the actions to restart.
 */
export async function runConcurrent(
  session: Session,
  ids: readonly string[],
  actions: readonly WaitingAction[],
  { earlyReads, clock, note, onCommitting }: ConcurrentParts,
): Promise<WaitingAction[]> {
  const beginning: { nowMs: number | null } = { nowMs: null };
  const begun = begin(session, { ids, mode: 'concurrent' }, clock).then((nowMs) => {
    beginning.nowMs = nowMs;
  });
  const statements = new MergedTransaction(session, beginning, actions.length);
  const reads = earlyReads.open(
    async (sql, values) =>
      (await statements.query<object>(numberPlaceholders(sql), values, 'read')).rows,
    () => beginning.nowMs !== null,
  );
  let isSpoiled = false;
  const run = async (action: WaitingAction): Promise<Ended> => {
    const tx = openTx(statements, beginning, {
      note,
      requireExclusive() {
        throw new ExclusiveNeeded();
      },
      kept: action.kind === undefined ? null : reads.keptFor(action.kind),
    });
    const outcome = await runAction(action, tx);
    if (outcome.kind === 'early') {
      await begun;
      return run(action);
    }
    if (outcome.kind !== 'value') isSpoiled ||= tx.hasWritten || hasFailed(outcome);
    return { action, outcome };
  };
  const [, ...ends] = await Promise.allSettled([begun, ...actions.map(run)]);
  // Before the outcomes: without a transaction, the reads have failed for that reason.
  await begun;
  reads.end();
  // All actions have ended, so none of them uses the session any more.
  const ended: Ended[] = ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
  if (isSpoiled) {
    await session.script('ROLLBACK');
    return [...actions];
  }
  onCommitting();
  const [written, committed] = await session.together(() =>
    Promise.allSettled([statements.flush(), commit(session)]),
  );
  if (written.status === 'rejected') {
    if (isUnavailable(written.reason)) throw written.reason;
    // The COMMIT of a failed transaction has rolled it back.
    return [...actions];
  }
  if (committed.status === 'rejected') throw committed.reason;
  // An early read has failed that no action needed.
  if (!committed.value) return [...actions];
  return deliverOutcomes(ended);
}

async function begin(
  session: Session,
  { ids, mode }: LockScope,
  clock: TestClock,
): Promise<number> {
  const results = await session
    .script(
      `${session.beginText}; ${JOINS_BY_INDEX}
       SET LOCAL lock_timeout = ${LOCK_TRY_MS};
       SELECT ${lockCalls(ids, mode)};
       SET LOCAL lock_timeout = ${session.lockMs};
       SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now_ms`,
    )
    .catch((cause: unknown) => {
      throw isLockTimeout(cause) ? new ScopeLocked('the scope is locked', { cause }) : cause;
    });
  return clock?.() ?? Number(results.at(-1)?.rows[0]?.now_ms);
}

/** Locks are taken in the order of their numbers, so that no two transactions block each other. */
function lockCalls(ids: readonly string[] | null, mode: LockMode): string {
  if (ids === null) return `pg_advisory_xact_lock(${LOCK_CLASS}, ${HUB_LOCK})`;
  const lock = mode === 'exclusive' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  const numbers = [...new Set(ids.map(lockNumberOf))].toSorted((a, b) => a - b);
  return [
    `pg_advisory_xact_lock_shared(${LOCK_CLASS}, ${HUB_LOCK})`,
    ...numbers.map((number) => `${lock}(${LOCK_CLASS}, ${number})`),
  ].join(', ');
}

/** Two ids with the same number only wait for each other sometimes. */
function lockNumberOf(id: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < id.length; at++) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01_00_01_93);
  }
  return hash === HUB_LOCK ? 1 : hash | 0;
}

/** @returns false when the transaction had failed before, so that nothing was kept. */
async function commit(session: Session): Promise<boolean> {
  const [result] = await session.script('COMMIT');
  // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, not with an error.
  return result?.command === 'COMMIT';
}

/** Runs an action that is alone in progress. A time limit is its outcome, too. */
async function runBounded(action: WaitingAction, tx: ActionTx): Promise<Outcome> {
  try {
    return await runAction(action, tx);
  } catch (error) {
    if (isTimeLimit(error)) return { kind: 'refused', error: toUnavailable(error) };
    throw error;
  }
}

/** Runs an action within a savepoint, which is sent together with its first statement. */
async function runInSavepoint(
  savepoint: string,
  action: WaitingAction,
  session: Session,
  tx: ActionTx,
): Promise<Outcome> {
  const [opened, ran] = await Promise.allSettled([
    session.script(savepoint),
    runBounded(action, tx),
  ]);
  if (opened.status === 'rejected') throw opened.reason;
  if (ran.status === 'rejected') throw ran.reason;
  return ran.value;
}

/** Whether an error of the database has ended the transaction, for all of its actions. */
function hasFailed(outcome: Outcome): boolean {
  if (outcome.kind === 'restart') return outcome.isFailed;
  return outcome.kind === 'refused' && isDatabaseError(outcome.error);
}

/** Throws only when the session is lost; an error of the action is its outcome. */
async function runAction(action: WaitingAction, tx: ActionTx): Promise<Outcome> {
  try {
    const value = await action.run(tx);
    await tx.settleSent();
    return { kind: 'value', value, calls: tx.calls };
  } catch (caught) {
    const error = await firstFailure(tx, caught);
    if (error instanceof NotBegun) return { kind: 'early' };
    if (error instanceof ExclusiveNeeded) return { kind: 'restart', isFailed: false };
    if (error instanceof HubError) return { kind: 'refused', error };
    if (isUnavailable(error)) throw error;
    if (isConflict(error) && action.conflicts < CONFLICTS_MAX) {
      return { kind: 'restart', isFailed: true };
    }
    if (isContention(error)) return { kind: 'refused', error: toContended(error) };
    return { kind: 'refused', error };
  }
}

/** After a write that was sent has failed, every later statement fails because of it. */
async function firstFailure(tx: ActionTx, error: unknown): Promise<unknown> {
  if (!isDatabaseError(error)) return error;
  return tx.settleSent().then(
    () => error,
    (first: unknown) => first,
  );
}

/** @returns the actions to restart. */
function deliverOutcomes(ended: readonly Ended[]): WaitingAction[] {
  for (const { outcome } of ended) {
    if (outcome.kind === 'value') callAfterCommit(outcome.calls);
  }
  const restarts: WaitingAction[] = [];
  for (const { action, outcome } of ended) {
    if (outcome.kind === 'value') action.resolve(outcome.value);
    else if (outcome.kind === 'refused') action.reject(outcome.error);
    else restarts.push(action);
  }
  return restarts;
}
