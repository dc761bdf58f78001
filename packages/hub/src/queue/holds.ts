import type { Tx } from '../db/engine.ts';
import {
  deleteSettlement,
  insertSettlement,
  meetDependency,
  readSettlement,
} from './dependents-store.ts';
import type { Entry, Hold } from './entry.ts';
import {
  isKeyRunning,
  listDue,
  listKeyHeldHeads,
  listUnpreferred,
  setHold,
} from './queue-store.ts';

/** Dependents that the completion itself tells: a few milliseconds. */
const DEPENDENTS_TOLD_MAX = 200;

/*
 * A pending entry carries why it is not claimable, so that a claim looks at nothing but entries
 * that are ready. Holds are taken off by what ends them: a dependency done, a time come, a
 * concurrency key set free.
 *
 * Concurrency keys: while a key is free, each lane with entries held for it has its first one
 * ready. When one of them is claimed, the ready ones of the same key are put on hold as claims come
 * across them, a lane at a time; when it ends, the first of each lane is made ready again.
 *
 * Preferences: an entry may be kept for the agent that held it, for a while. Only that agent may
 * claim it then; afterwards it is ready like any other. Waiting for a key ends a preference.
 */

/**
 * Told of each entry that became claimable, once that is durable.
 *
 * @param agentId the only agent that may claim it now; null: any that suits.
 */
export type ReadyListener = (
  entry: Pick<Entry, 'workspace_id' | 'queue' | 'lane_id'>,
  agentId: string | null,
) => void;

/** The hold of an entry that is, or is about to be, pending. */
export async function findHold(
  tx: Tx,
  entry: Pick<
    Entry,
    | 'workspace_id'
    | 'queue'
    | 'dependencies_unmet'
    | 'available_at'
    | 'concurrency_key'
    | 'prefer_agent_id'
    | 'prefer_until'
  >,
): Promise<Hold> {
  if (entry.dependencies_unmet > 0) return 'dependencies';
  if (entry.available_at > tx.nowMs) return 'delayed';
  const key = entry.concurrency_key;
  if (key !== null) tx.requireExclusive();
  if (key !== null && (await isKeyRunning(tx, entry.workspace_id, entry.queue, key))) return 'key';
  const isKept = entry.prefer_agent_id !== null && (entry.prefer_until ?? 0) > tx.nowMs;
  return isKept ? 'preferred' : 'ready';
}

/** Announces an entry if somebody may claim it. */
export function announce(
  tx: Tx,
  entry: Pick<Entry, 'workspace_id' | 'queue' | 'lane_id' | 'hold' | 'prefer_agent_id'>,
  onReady: ReadyListener,
): void {
  const { hold, prefer_agent_id: agentId } = entry;
  if (hold === 'ready') tx.afterCommit(() => onReady(entry, null));
  if (hold === 'preferred') tx.afterCommit(() => onReady(entry, agentId));
}

async function rehold(tx: Tx, entry: Entry, onReady: ReadyListener): Promise<void> {
  const hold = await findHold(tx, entry);
  await setHold(tx, entry.workspace_id, entry.entry_id, hold);
  announce(tx, { ...entry, hold }, onReady);
}

/**
 * Makes entries claimable whose delay or preference has ended. Returns how many.
 *
 * @param workspaceId null: of all workspaces, for the sweeper.
 */
export async function promoteDue(
  tx: Tx,
  workspaceId: string | null,
  limit: number,
  onReady: ReadyListener,
): Promise<number> {
  const [delayed, preferred] = await Promise.all([
    listDue(tx, tx.nowMs, workspaceId, limit),
    listUnpreferred(tx, tx.nowMs, workspaceId, limit),
  ]);
  const due = [...delayed, ...preferred].slice(0, limit);
  if (due.length > 0) tx.requireExclusive();
  for (const entry of due) await rehold(tx, entry, onReady);
  return due.length + (await settleNext(tx, workspaceId, limit - due.length, onReady));
}

/** Tells more of the dependents of an entry that has many. Returns how many. */
async function settleNext(
  tx: Tx,
  workspaceId: string | null,
  limit: number,
  onReady: ReadyListener,
): Promise<number> {
  let told = 0;
  while (told < limit) {
    const done = await readSettlement(tx, workspaceId);
    if (done === undefined) return told;
    tx.requireExclusive();
    const piece = await tellDependents(tx, done, limit - told, onReady);
    if (told + piece < limit) await deleteSettlement(tx, done);
    told += piece;
  }
  return told;
}

/**
 * After an entry was done: frees those that waited for nothing else. When many wait for it, claims
 * that find nothing and the sweeper tell the rest, so that no completion holds up the others.
 */
export async function promoteDependents(
  tx: Tx,
  done: Entry,
  onReady: ReadyListener,
): Promise<void> {
  const told = await tellDependents(tx, done, DEPENDENTS_TOLD_MAX, onReady);
  if (told === DEPENDENTS_TOLD_MAX) await insertSettlement(tx, done);
}

async function tellDependents(
  tx: Tx,
  done: Pick<Entry, 'workspace_id' | 'entry_id'>,
  limit: number,
  onReady: ReadyListener,
): Promise<number> {
  const { told, freed } = await meetDependency(tx, done, limit);
  for (const entry of freed) {
    if (entry.hold === 'ready') announce(tx, entry, onReady);
    else await rehold(tx, entry, onReady);
  }
  return told;
}

/**
 * After an entry with a concurrency key has left the running or the ready ones: makes the first
 * of each lane claimable, unless the key is taken.
 */
export async function promoteKeyHeld(
  tx: Tx,
  left: Pick<Entry, 'workspace_id' | 'queue' | 'concurrency_key'>,
  onReady: ReadyListener,
): Promise<void> {
  const { workspace_id: workspaceId, queue, concurrency_key: key } = left;
  if (key === null) return;
  if (await isKeyRunning(tx, workspaceId, queue, key)) return;
  for (const head of await listKeyHeldHeads(tx, workspaceId, queue, key)) {
    await setHold(tx, workspaceId, head.entry_id, 'ready');
    announce(
      tx,
      {
        workspace_id: workspaceId,
        queue,
        lane_id: head.lane_id,
        hold: 'ready',
        prefer_agent_id: null,
      },
      onReady,
    );
  }
}
