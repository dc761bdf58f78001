import { PRIORITY_POINT_MS } from '@signalbox/contract';
import { assert, HubError } from '../base/errors.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { ClaimFloors } from './claim-floors.ts';
import { lockReady } from './claim-postgres.ts';
import { DueLooks } from './due-looks.ts';
import type { Entry, EntryStatus, LaneSpec } from './entry.ts';
import {
  announce,
  findHold,
  notePlace,
  promoteKeyHeld,
  type ReadyListener,
  type ReadyParts,
  releaseDependents,
  releaseMoreDependents,
  updateHold,
} from './holds.ts';
import { type Demand, LaneBook } from './lane-book.ts';
import { meetsNeeds } from './matching.ts';
import { type Cause, generationOf, mayMove } from './states.ts';
import {
  changeEntry,
  holdForKey,
  insertEntry,
  isKeyRunning,
  type LeaseGrant,
  listDue,
  listExpired,
  PINNED_UNTIL_MS,
  type Preference,
  readEntry,
  readLaneHeads,
  returnToPending,
  setHold,
  startAttempt,
  stopAttempt,
  updateRunning,
} from './store.ts';
import { insertDependency } from './store-dependents.ts';

/** Ids of lanes. */
export interface FoundLanes {
  suitable: string[];
  unsuitable: string[];
}

export interface EntryDraft {
  workspaceId: string;
  entryId: string;
  lane: LaneSpec;
  priority: number;
  attemptsMax: number;
  delayMs: number;
  /** Entries of this workspace; the caller has checked that they exist. */
  dependsOn: readonly string[];
  concurrencyKey: string | null;
  /** Absent: any suitable agent may claim it. */
  preference?: Preference | null;
}

/** The result of taking a lease from its holder. */
export interface Recovery {
  /** The entry as it was under the lost lease. */
  lost: Entry;
  entry: Entry;
  cause: Extract<Cause, 'lease-lost' | 'attempts-exhausted' | 'cancel'>;
}

/** Why a lease was taken from its holder before it expired, for the timeline of the job. */
export interface LossExplanation {
  message: string;
  data: Record<string, unknown>;
}

/** A lost lease; without an explanation, it has expired. */
export interface LostLease extends Recovery {
  explanation?: LossExplanation;
}

/**
 * The leased queue of jobs and cloud AI jobs: at least one attempt, at most one live lease, exactly
 * one accepted completion. Every method runs in the caller's transaction, so that the rows and
 * events of the module change together with the entry.
 */
export class Queue {
  readonly #ready: ReadyParts;
  readonly #lanes = new LaneBook();
  readonly dueLooks = new DueLooks();

  constructor(onReady: ReadyListener, floors = new ClaimFloors()) {
    this.#ready = { onReady, floors };
  }

  /** Adds an entry. */
  async enqueue(tx: Tx, draft: EntryDraft): Promise<Entry> {
    const dependsOn = [...new Set(draft.dependsOn)];
    // Otherwise a dependency could be done meanwhile without releasing this entry.
    if (dependsOn.length > 0 || draft.concurrencyKey !== null) tx.requireExclusive();
    const laneId = await this.#lanes.use(tx, draft.workspaceId, draft.lane);
    let unmet = 0;
    for (const id of dependsOn) {
      const dependency = await readEntry(tx, draft.workspaceId, id);
      assert(dependency !== undefined, 'a dependency exists');
      if (dependency.status === 'done') continue;
      unmet += 1;
      await insertDependency(tx, draft.workspaceId, id, draft.entryId);
    }
    const entry: Entry = {
      workspace_id: draft.workspaceId,
      entry_id: draft.entryId,
      queue: draft.lane.queue,
      lane_id: laneId,
      status: 'pending',
      hold: null,
      priority: draft.priority,
      sort_key: tx.nowMs - draft.priority * PRIORITY_POINT_MS,
      enqueued_at: tx.nowMs,
      available_at: tx.nowMs + draft.delayMs,
      attempt: 0,
      epoch: 0,
      attempts_max: draft.attemptsMax,
      dependencies_unmet: unmet,
      concurrency_key: draft.concurrencyKey,
      ...unclaimed,
      prefer_agent_id: draft.preference?.agentId ?? null,
      prefer_until: draft.preference?.untilMs ?? null,
    };
    entry.hold = await findHold(tx, entry);
    insertEntry(tx, entry);
    announce(tx, entry, this.#ready);
    return entry;
  }

  /** The lanes that hold what an agent asks for: those that suit it, and those that do not. */
  async findLanes(reader: Reader, workspaceId: string, demand: Demand): Promise<FoundLanes> {
    const lanes = await this.#lanes.listActive(reader, workspaceId, demand);
    const found: FoundLanes = { suitable: [], unsuitable: [] };
    for (const { laneId, needs, repoId } of lanes) {
      const suits = needs !== null && meetsNeeds(demand.capabilities, needs, repoId);
      (suits ? found.suitable : found.unsuitable).push(laneId);
    }
    return found;
  }

  /** Whether a lane may hold entries for an agent; true when this hub does not know the lane. */
  laneSuits(laneId: string, wanted: Demand): boolean {
    const spec = this.#lanes.find(laneId);
    if (spec === undefined) return true;
    return (
      spec.needs !== null &&
      spec.queue === wanted.queue &&
      wanted.repoIds.has(spec.repoId) &&
      (wanted.kinds === null || wanted.kinds.includes(spec.kind)) &&
      meetsNeeds(wanted.capabilities, spec.needs, spec.repoId)
    );
  }

  /** Loads lanes that another hub reported, so that `laneSuits` can judge them. */
  learnLanes(reader: Reader, workspaceId: string, laneIds: readonly string[]): Promise<void> {
    return this.#lanes.learn(reader, workspaceId, laneIds);
  }

  /**
   * Claims the next entry of some lanes.
   *
   * @param grantFor makes the grant for the entry and generation that will be claimed.
   * @returns the claimed entry, or null when nothing in the lanes is ready.
   */
  async claim(
    tx: Tx,
    workspaceId: string,
    laneIds: readonly string[],
    grantFor: (entryId: string, generation: number) => LeaseGrant,
  ): Promise<Entry | null> {
    const start = (ready: Entry) =>
      startAttempt(tx, ready, grantFor(ready.entry_id, generationOf(ready) + 1));
    if (tx.engine === 'postgres') return this.#claimLocked(tx, workspaceId, laneIds, start);
    const heads = new Map<string, Entry>();
    const found = await readLaneHeads(tx, workspaceId, laneIds);
    for (const head of found) heads.set(head.lane_id, head);
    for (;;) {
      const head = firstOf(heads.values());
      if (head === null) return null;
      const key = head.concurrency_key;
      if (key === null || !(await isKeyRunning(tx, workspaceId, head.queue, key))) {
        return start(head);
      }
      await holdForKey(tx, head);
      const [next] = await readLaneHeads(tx, workspaceId, [head.lane_id]);
      if (next === undefined) heads.delete(head.lane_id);
      else heads.set(head.lane_id, next);
    }
  }

  /** On PostgreSQL, where other claims are in progress unless the entry has a key. */
  async #claimLocked(
    tx: Tx,
    workspaceId: string,
    laneIds: readonly string[],
    start: (ready: Entry) => Entry,
  ): Promise<Entry | null> {
    const { floors } = this.#ready;
    for (;;) {
      const request = { workspaceId, laneIds, floors, nowMs: tx.nowMs };
      const { entry, searched } = await tx.runBatched(lockReady, request);
      if (searched !== null) tx.afterCommit(() => floors.end(...searched));
      if (entry === null) return null;
      const key = entry.concurrency_key;
      if (key === null) return start(entry);
      tx.requireExclusive();
      if (!(await isKeyRunning(tx, workspaceId, entry.queue, key))) return start(entry);
      await holdForKey(tx, entry);
    }
  }

  /**
   * Claims the first entry that is reserved for an agent and lies in one of the lanes.
   *
   * @param preferred the current entries of `listPreferred`.
   */
  async claimPreferred(
    tx: Tx,
    preferred: readonly Entry[],
    laneIds: readonly string[],
    grantFor: (entryId: string, generation: number) => LeaseGrant,
  ): Promise<Entry | null> {
    for (const entry of preferred) {
      tx.requireExclusive();
      if (!laneIds.includes(entry.lane_id)) continue;
      const hold = await findHold(tx, entry);
      if (hold === 'key') {
        await setHold(tx, entry.workspace_id, entry.entry_id, hold);
        continue;
      }
      return startAttempt(tx, entry, grantFor(entry.entry_id, generationOf(entry) + 1));
    }
    return null;
  }

  /**
   * Ends a running entry with an accepted completion.
   *
   * @param isAwaited what `hasDependents` says of the entry in this transaction.
   */
  async finish(
    tx: Tx,
    entry: Entry,
    status: 'done' | 'failed' | 'blocked',
    { isAwaited }: { isAwaited: boolean },
  ): Promise<Entry> {
    const isReleasing = isAwaited && status === 'done';
    if (isReleasing) tx.requireExclusive();
    const finished = await this.#stop(tx, entry, { status, cause: 'complete' });
    if (isReleasing) await releaseDependents(tx, finished, this.#ready);
    return finished;
  }

  /** Whether a retryable outcome or a lost lease leads to another attempt. */
  hasAttemptsLeft(entry: Entry): boolean {
    return entry.attempt < entry.attempts_max;
  }

  async requeue(
    tx: Tx,
    entry: Entry,
    cause: Extract<Cause, 'retryable-outcome' | 'lease-lost' | 'retry' | 'decision'>,
    options: { delayMs?: number; attemptsMax?: number; preference?: Preference | null } = {},
  ): Promise<Entry> {
    assert(mayMove(entry.status, 'pending', cause), `${entry.status} → pending by ${cause}`);
    const availableAtMs = tx.nowMs + (options.delayMs ?? 0);
    // Its own running attempt ends with this move, so its key counts as free.
    const freesKey = entry.status === 'running';
    if (entry.concurrency_key !== null) tx.requireExclusive();
    await this.#lanes.useAgain(tx, entry, { isBounded: cause === 'retry' });
    const preference = options.preference ?? pinOf(entry);
    const hold = await findHold(tx, {
      ...entry,
      available_at: availableAtMs,
      concurrency_key: freesKey ? null : entry.concurrency_key,
      prefer_agent_id: preference?.agentId ?? null,
      prefer_until: preference?.untilMs ?? null,
    });
    const attemptsMax = options.attemptsMax ?? entry.attempts_max;
    const place = { hold, availableAtMs, attemptsMax, preference };
    const pending = returnToPending(tx, entry, place);
    announce(tx, pending, this.#ready);
    if (freesKey) await promoteKeyHeld(tx, pending, this.#ready);
    return pending;
  }

  /** Moves an entry that is neither pending nor running to the lane of other requirements. */
  async changeLane(tx: Tx, entry: Entry, lane: LaneSpec): Promise<Entry> {
    assert(entry.status !== 'pending' && entry.status !== 'running', 'it is in no line');
    const laneId = await this.#lanes.use(tx, entry.workspace_id, lane);
    return changeEntry(tx, entry, { lane_id: laneId });
  }

  /**
   * Moves a pending entry to another place in its lane. A running or blocked one gets the place
   * when it becomes pending again.
   */
  async setPriority(tx: Tx, entry: Entry, priority: number): Promise<Entry> {
    const moved = changeEntry(tx, entry, {
      priority,
      sort_key: entry.sort_key + (entry.priority - priority) * PRIORITY_POINT_MS,
    });
    if (entry.hold === 'ready') notePlace(tx, moved, this.#ready.floors);
    // It may be the first of its lane now, which is ready while the key is free.
    if (entry.hold === 'key') await promoteKeyHeld(tx, moved, this.#ready);
    return moved;
  }

  /** Requests the cancel of a running entry, or cancels any other unfinished entry at once. */
  async cancel(tx: Tx, entry: Entry): Promise<Entry> {
    if (entry.status === 'running') {
      return entry.cancel_requested_at === null
        ? updateRunning(tx, entry, { cancel_requested_at: tx.nowMs })
        : entry;
    }
    return this.#stop(tx, entry, { status: 'canceled', cause: 'cancel' });
  }

  /** Cancels a running entry after its agent has responded to the cancel request. */
  async endCanceled(tx: Tx, entry: Entry): Promise<Entry> {
    return this.#stop(tx, entry, { status: 'canceled', cause: 'cancel' });
  }

  /** Takes a running entry from its holder, as if its lease had expired. */
  async recover(tx: Tx, lost: Entry): Promise<Recovery> {
    if (lost.cancel_requested_at !== null) {
      const entry = await this.#stop(tx, lost, { status: 'canceled', cause: 'cancel' });
      return { lost, entry, cause: 'cancel' };
    }
    if (!this.hasAttemptsLeft(lost)) {
      const entry = await this.#stop(tx, lost, { status: 'failed', cause: 'attempts-exhausted' });
      return { lost, entry, cause: 'attempts-exhausted' };
    }
    return { lost, entry: await this.requeue(tx, lost, 'lease-lost'), cause: 'lease-lost' };
  }

  /** Takes back expired leases. */
  async recoverExpired(tx: Tx, workspaceId: string, limit: number): Promise<Recovery[]> {
    const recoveries: Recovery[] = [];
    for (const lost of await listExpired(tx, tx.nowMs, workspaceId, limit)) {
      tx.requireExclusive();
      recoveries.push(await this.recover(tx, lost));
    }
    return recoveries;
  }

  /**
   * Makes entries claimable whose delay or preference has expired, and releases dependents.
   *
   * @returns how many.
   */
  async promoteDue(tx: Tx, workspaceId: string, limit: number): Promise<number> {
    const due = await listDue(tx, tx.nowMs, workspaceId, limit);
    if (due.length > 0) tx.requireExclusive();
    for (const entry of due) await updateHold(tx, entry, this.#ready);
    const left = limit - due.length;
    return due.length + (await releaseMoreDependents(tx, workspaceId, left, this.#ready));
  }

  async #stop(
    tx: Tx,
    entry: Entry,
    { status, cause }: { status: EntryStatus; cause: Cause },
  ): Promise<Entry> {
    if (!mayMove(entry.status, status, cause)) {
      throw new HubError(entry.status === 'canceled' ? 'JOB_CANCELED' : 'JOB_ALREADY_FINISHED');
    }
    if (entry.concurrency_key !== null) tx.requireExclusive();
    const stopped = stopAttempt(tx, entry, status);
    await promoteKeyHeld(tx, stopped, this.#ready);
    return stopped;
  }
}

/** The reservation that an entry keeps over its attempts. */
function pinOf({ prefer_agent_id: agentId, prefer_until: untilMs }: Entry): Preference | null {
  return agentId !== null && untilMs === PINNED_UNTIL_MS ? { agentId, untilMs } : null;
}

const unclaimed = {
  agent_id: null,
  lease_ms: null,
  lease_expires_at: null,
  claim_key: null,
  job_token_hash: null,
  started_at: null,
  finished_at: null,
  cancel_requested_at: null,
  heartbeat_seq: null,
  heartbeat_count: 0,
  prefer_agent_id: null,
  prefer_until: null,
} as const;

/** The head with the lowest sort key; ids rise with time, so ties are first in, first out. */
function firstOf(heads: Iterable<Entry>): Entry | null {
  let first: Entry | null = null;
  for (const head of heads) {
    if (
      first === null ||
      head.sort_key < first.sort_key ||
      (head.sort_key === first.sort_key && head.entry_id < first.entry_id)
    ) {
      first = head;
    }
  }
  return first;
}
