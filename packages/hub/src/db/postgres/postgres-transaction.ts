import { HubError } from '../../errors.ts';
import { makeCalls } from '../after-commit.ts';
import type { Tx } from '../engine.ts';
import {
  isConflict,
  isDatabaseError,
  isTimeLimit,
  isTooLong,
  isUnavailable,
  toTooLong,
  toUnavailable,
} from './postgres-errors.ts';
import type { Session } from './postgres-session.ts';
import { type ActionTx, openTx } from './postgres-tx.ts';
import type { StatementMerger } from './statement-merger.ts';

/** An action that waits to be run. */
export interface WaitingAction {
  keys: readonly string[];
  run: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** How often it was started over for what others did at the same time. */
  conflicts: number;
}

/** Tells the time instead of the database; null outside of tests. */
export type TestClock = (() => number) | null;

/** Whose writes a transaction excludes, and beside whose it may run. */
interface LockScope {
  /** null: the whole hub. */
  workspaceId: string | null;
  mode: 'alone' | 'beside';
}

/** Thrown by `requireExclusive`, to leave an action that is to be started over. */
class AloneNeeded extends Error {}

/** An action's end within its transaction, told to its caller once that is durable. */
type Outcome =
  | { kind: 'value'; value: unknown; calls: (() => void)[] }
  | { kind: 'refused'; error: unknown }
  /** To be started over, by itself. */
  | { kind: 'again' };

/** Conflicts of one action in a row; more are a fault of the hub, which then says so. */
const CONFLICTS_MAX = 5;

/** Names this hub's locks among those that others take in the same database. */
const LOCK_CLASS = 0x51_9b;
const HUB_LOCK = 0;

/**
 * Hot statements find their rows by an index, and nothing else. Left to itself the planner reads
 * all of a table that is small, and keeps that plan while the table grows, until it is analyzed: a
 * minute in which each statement costs more than the one before.
 */
const BY_INDEX = ['seqscan', 'hashjoin', 'mergejoin']
  .map((way) => `SET LOCAL enable_${way} = off;`)
  .join(' ');

/**
 * Runs actions one after the other in one transaction, each within a savepoint, as on SQLite.
 *
 * @param clock instead of the database's, in tests.
 * @returns those to be started over.
 */
export async function runAlone(
  session: Session,
  workspaceId: string | null,
  actions: readonly WaitingAction[],
  clock: TestClock,
): Promise<WaitingAction[]> {
  const nowMs = await begin(session, { workspaceId, mode: 'alone' }, clock);
  const outcomes: Outcome[] = [];
  for (const action of actions) {
    await session.script('SAVEPOINT action');
    const outcome = await runInSavepoint(action, openTx(session, nowMs));
    const isKept = outcome.kind === 'value';
    await session.script(`${isKept ? '' : 'ROLLBACK TO action;'} RELEASE action`);
    outcomes.push(outcome);
  }
  await commit(session);
  return tellOutcomes(actions, outcomes);
}

export interface BesideOptions {
  merger: StatementMerger;
  clock: TestClock;
  /** Told when the statements are done and only the commit is left. */
  onCommitting: () => void;
}

/**
 * Runs actions side by side in one transaction; statements of the same text that wait at the same
 * time become one. An action that was refused before it wrote anything leaves the others as they
 * are; if any other fails, nothing of the transaction is kept, and all are to be started over.
 */
export async function runBeside(
  session: Session,
  workspaceId: string,
  actions: readonly WaitingAction[],
  { merger, clock, onCommitting }: BesideOptions,
): Promise<WaitingAction[]> {
  const nowMs = await begin(session, { workspaceId, mode: 'beside' }, clock);
  const statements = merger.open(session, nowMs, actions.length);
  let isSpoiled = false;
  const ends = await Promise.allSettled(
    actions.map(async (action) => {
      const tx = openTx(statements, nowMs, () => {
        throw new AloneNeeded();
      });
      const outcome = await runAction(action, tx);
      if (outcome.kind === 'value') return outcome;
      isSpoiled ||= tx.hasWritten || (outcome.kind === 'refused' && isDatabaseError(outcome.error));
      return outcome;
    }),
  );
  // All have ended, so none of them speaks on this session any more.
  const outcomes = ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
  if (isSpoiled) {
    await session.script('ROLLBACK');
    return [...actions];
  }
  onCommitting();
  await commit(session);
  return tellOutcomes(actions, outcomes);
}

async function begin(
  session: Session,
  { workspaceId, mode }: LockScope,
  clock: TestClock,
): Promise<number> {
  const results = await session.script(
    `${session.beginText}; ${mode === 'beside' ? BY_INDEX : ''}
     SELECT ${lockCalls(workspaceId, mode)};
     SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now_ms`,
  );
  return clock?.() ?? Number(results.at(-1)?.rows[0]?.now_ms);
}

function lockCalls(workspaceId: string | null, mode: LockScope['mode']): string {
  if (workspaceId === null) return `pg_advisory_xact_lock(${LOCK_CLASS}, ${HUB_LOCK})`;
  const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  return (
    `pg_advisory_xact_lock_shared(${LOCK_CLASS}, ${HUB_LOCK}), ` +
    `${lock}(${LOCK_CLASS}, ${lockNumberOf(workspaceId)})`
  );
}

/** Two workspaces with one number wait for each other now and then; nothing else comes of it. */
function lockNumberOf(workspaceId: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < workspaceId.length; at++) {
    hash = Math.imul(hash ^ workspaceId.charCodeAt(at), 0x01_00_01_93);
  }
  return hash === HUB_LOCK ? 1 : hash | 0;
}

async function commit(session: Session): Promise<void> {
  const [result] = await session.script('COMMIT');
  // PostgreSQL answers the COMMIT of a failed transaction without an error.
  if (result?.command !== 'COMMIT') throw new Error('the transaction had failed before its commit');
}

/** What the database refuses of one action is taken back with it: the others go on. */
async function runInSavepoint(action: WaitingAction, tx: ActionTx): Promise<Outcome> {
  try {
    const outcome = await runAction(action, tx);
    const isRefusal = outcome.kind === 'refused' && isTooLong(outcome.error);
    return isRefusal ? { kind: 'refused', error: toTooLong(outcome.error) } : outcome;
  } catch (error) {
    if (isTimeLimit(error)) return { kind: 'refused', error: toUnavailable(error) };
    throw error;
  }
}

/** Throws only when the session is lost; what the action throws is an outcome. */
async function runAction(action: WaitingAction, tx: ActionTx): Promise<Outcome> {
  try {
    const value = await action.run(tx);
    return { kind: 'value', value, calls: tx.calls };
  } catch (error) {
    if (error instanceof AloneNeeded) return { kind: 'again' };
    if (error instanceof HubError) return { kind: 'refused', error };
    if (isUnavailable(error)) throw error;
    if (isConflict(error) && action.conflicts < CONFLICTS_MAX) return { kind: 'again' };
    return { kind: 'refused', error };
  }
}

function tellOutcomes(
  actions: readonly WaitingAction[],
  outcomes: readonly Outcome[],
): WaitingAction[] {
  for (const outcome of outcomes) {
    if (outcome.kind === 'value') makeCalls(outcome.calls);
  }
  const again: WaitingAction[] = [];
  actions.forEach((action, at) => {
    const outcome = outcomes[at];
    if (outcome?.kind === 'value') action.resolve(outcome.value);
    else if (outcome?.kind === 'refused') action.reject(outcome.error);
    else again.push(action);
  });
  return again;
}
