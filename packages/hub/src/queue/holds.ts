import type { Tx } from '../db/engine.ts';
import type { ClaimFloors, Place } from './claim-floors.ts';
import type { Entry, Hold } from './entry.ts';
import { isKeyRunning, listKeyHeldHeads, setHold } from './store.ts';
import {
  deleteSettlement,
  insertSettlement,
  meetDependency,
  readSettlement,
} from './store-dependents.ts';

/** Dependents that the completion itself releases: a few milliseconds. */
const DEPENDENTS_RELEASED_MAX = 200;

/*
 * A pending entry stores why it is not claimable, its hold, so that a claim reads only ready
 * entries. A hold is removed by the event that ends it: a dependency is done, a delay has expired,
 * a concurrency key is free.
 *
 * Concurrency keys: while a key is free, the first entry of each lane that waits for it is ready.
 * After one of them is claimed, claims put the other ready ones on hold when they meet them, a lane
 * at a time. When the running one ends, the first entry of each lane becomes ready again.
 *
 * Preferences: an entry may be reserved for the agent that held it, for a limited time. Only that
 * agent may claim it then; afterwards it is ready for all. Waiting for a key ends a preference.
 */

type ReadyColumn = 'workspace_id' | 'queue' | 'lane_id' | 'sort_key';

/** The parts that learn of entries that become claimable. */
export interface ReadyParts {
  onReady: ReadyListener;
  floors: ClaimFloors;
}

/**
 * Called for each entry that became claimable, after the commit.
 *
 * @param agentId the only agent that may claim it now; null when any may.
 */
export type ReadyListener = (entry: Pick<Entry, ReadyColumn>, agentId: string | null) => void;

/** The hold of an entry that is pending or is about to be. */
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
  const isReserved = entry.prefer_agent_id !== null && (entry.prefer_until ?? 0) > tx.nowMs;
  return isReserved ? 'preferred' : 'ready';
}

/** Announces an entry after the commit if it is claimable. */
export function announce(
  tx: Tx,
  entry: Pick<Entry, ReadyColumn | 'hold' | 'prefer_agent_id'>,
  { onReady, floors }: ReadyParts,
): void {
  const { hold, prefer_agent_id: agentId } = entry;
  if (hold === 'ready') {
    notePlace(tx, entry, floors);
    tx.afterCommit(() => onReady(entry, null));
  }
  if (hold === 'preferred') tx.afterCommit(() => onReady(entry, agentId));
}

/**
 * Must be called for each entry that becomes ready, and for each ready one that is moved, so that
 * claims find it: in this transaction and in later ones.
 */
export function notePlace(tx: Tx, entry: Place, floors: ClaimFloors): void {
  floors.lower(entry);
  // Searches that did not see it may have raised the floor meanwhile.
  tx.afterCommit(() => floors.lower(entry));
}

/** Computes the hold of a pending entry again, and announces the entry if it became claimable. */
export async function updateHold(tx: Tx, entry: Entry, ready: ReadyParts): Promise<void> {
  const hold = await findHold(tx, entry);
  await setHold(tx, entry.workspace_id, entry.entry_id, hold);
  announce(tx, { ...entry, hold }, ready);
}

/**
 * Releases dependents of done entries that had too many to release at once.
 *
 * @returns how many were released.
 */
export async function releaseMoreDependents(
  tx: Tx,
  workspaceId: string,
  limit: number,
  ready: ReadyParts,
): Promise<number> {
  let released = 0;
  while (released < limit) {
    const done = await readSettlement(tx, workspaceId);
    if (done === undefined) return released;
    tx.requireExclusive();
    const batch = await releaseBatch(tx, done, limit - released, ready);
    if (released + batch < limit) await deleteSettlement(tx, done);
    released += batch;
  }
  return released;
}

/**
 * Releases the entries that waited only for an entry that is now done. If there are many, the
 * sweeper and claims that find nothing release the rest, so that a completion stays short.
 */
export async function releaseDependents(tx: Tx, done: Entry, ready: ReadyParts): Promise<void> {
  const released = await releaseBatch(tx, done, DEPENDENTS_RELEASED_MAX, ready);
  if (released === DEPENDENTS_RELEASED_MAX) await insertSettlement(tx, done);
}

async function releaseBatch(
  tx: Tx,
  done: Pick<Entry, 'workspace_id' | 'entry_id'>,
  limit: number,
  ready: ReadyParts,
): Promise<number> {
  const { updated, freed } = await meetDependency(tx, done, limit);
  for (const entry of freed) {
    if (entry.hold === 'ready') announce(tx, entry, ready);
    else await updateHold(tx, entry, ready);
  }
  return updated;
}

/**
 * Makes the first entry of each lane that waits for a concurrency key ready, unless the key is
 * taken. Called after an entry with that key stopped running or left the queue.
 */
export async function promoteKeyHeld(
  tx: Tx,
  left: Pick<Entry, 'workspace_id' | 'queue' | 'concurrency_key'>,
  ready: ReadyParts,
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
        ...head,
        hold: 'ready',
        prefer_agent_id: null,
      },
      ready,
    );
  }
}
