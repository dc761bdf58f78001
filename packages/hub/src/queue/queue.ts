import type { AgentCapabilities } from '@signalbox/contract';
import { PRIORITY_POINT_MS } from '@signalbox/contract';
import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/tables.ts';
import { assert, HubError } from '../errors.ts';
import { hasDependents } from './dependents-store.ts';
import { type Entry, type EntryStatus, type Lane, type LaneSpec, laneIdOf } from './entry.ts';
import {
  announce,
  findHold,
  promoteDependents,
  promoteDue,
  promoteKeyHeld,
  type ReadyListener,
} from './holds.ts';
import { meetsNeeds, type Needs } from './matching.ts';
import { claimReady } from './queue-postgres.ts';
import {
  holdForKey,
  insertDependency,
  insertEntry,
  insertLane,
  isKeyRunning,
  type LeaseGrant,
  listExpired,
  listLanes,
  type Preference,
  readEntry,
  readLaneHead,
  returnToPending,
  setHold,
  startAttempt,
  stopAttempt,
  updateRunning,
} from './queue-store.ts';
import { readLanes } from './ready-lanes.ts';
import { type Cause, mayMove } from './states.ts';

/**
 * For so long a lane is taken to be there once it was written. Retention takes away none that was
 * written within a day, so no hub has an entry without its lane, whichever took the lane away.
 */
const LANE_KNOWN_MS = 60 * 60 * 1_000;

export interface EntryDraft {
  workspaceId: string;
  entryId: string;
  lane: LaneSpec;
  priority: number;
  attemptsMax: number;
  delayMs: number;
  /** Entries of this workspace; the caller has made sure that they exist. */
  dependsOn: readonly string[];
  concurrencyKey: string | null;
}

/** Where an expired or released lease left its entry. */
export interface Recovery {
  /** As it was under the lost lease. */
  lost: Entry;
  entry: Entry;
  cause: Extract<Cause, 'lease-lost' | 'attempts-exhausted' | 'cancel'>;
}

/**
 * The leased queue, for jobs and cloud AI jobs alike: at least one attempt, at most one live
 * lease, exactly one accepted completion. All of it works inside the caller's action, so that the
 * noun's own rows and events change with it or not at all.
 */
export class Queue {
  readonly #onReady: ReadyListener;
  /** When lanes were last written, by the database's clock: those stay for a good while yet. */
  readonly #usedLanesAtMs = new Map<string, number>();
  /** What lane ids stand for. An id is a hash of it, so an entry never becomes wrong. */
  readonly #specs = new Map<string, LaneSpec & { needs: Needs; laneId: string }>();

  constructor(onReady: ReadyListener) {
    this.#onReady = onReady;
  }

  async enqueue(tx: Tx, draft: EntryDraft): Promise<Entry> {
    const dependsOn = [...new Set(draft.dependsOn)];
    // What is done meanwhile would not know that this entry waits for it.
    if (dependsOn.length > 0 || draft.concurrencyKey !== null) tx.requireExclusive();
    const laneId = await this.#ensureLane(tx, draft.workspaceId, draft.lane);
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
      attempts_max: draft.attemptsMax,
      dependencies_unmet: unmet,
      concurrency_key: draft.concurrencyKey,
      ...unclaimed,
    };
    entry.hold = await findHold(tx, entry);
    await insertEntry(tx, entry);
    announce(tx, entry, this.#onReady);
    return entry;
  }

  /** The lanes of some repositories that suit an agent, and those that do not. */
  async findLanes(
    reader: Reader,
    workspaceId: string,
    queue: QueueName,
    repoIds: readonly string[],
    capabilities: AgentCapabilities,
    kinds: readonly string[] | null,
  ): Promise<{ suitable: Lane[]; unsuitable: Lane[] }> {
    const lanes = (await listLanes(reader, workspaceId, queue, repoIds)).filter(
      (lane) => kinds === null || kinds.includes(lane.kind),
    );
    const suits = (lane: Lane) => meetsNeeds(capabilities, this.#remember(lane).needs);
    return {
      suitable: lanes.filter(suits),
      unsuitable: lanes.filter((lane) => !suits(lane)),
    };
  }

  /** Whether a lane can hold something for an agent; true when this hub does not know the lane. */
  laneSuits(
    laneId: string,
    wanted: {
      queue: QueueName;
      repoIds: ReadonlySet<string>;
      capabilities: AgentCapabilities;
      kinds: readonly string[] | null;
    },
  ): boolean {
    const spec = this.#specs.get(laneId);
    if (spec === undefined) return true;
    return (
      spec.queue === wanted.queue &&
      wanted.repoIds.has(spec.repoId) &&
      (wanted.kinds === null || wanted.kinds.includes(spec.kind)) &&
      meetsNeeds(wanted.capabilities, spec.needs)
    );
  }

  /** Makes lanes known of which another hub told, so that `laneSuits` can say whom they suit. */
  async learnLanes(
    reader: Reader,
    lanes: readonly Pick<Lane, 'workspace_id' | 'lane_id'>[],
  ): Promise<void> {
    const unknown = lanes.filter((lane) => !this.#specs.has(lane.lane_id));
    if (unknown.length === 0) return;
    for (const lane of await readLanes(reader, unknown)) this.#remember(lane);
  }

  /**
   * Claims the entry that goes next in any of the lanes.
   *
   * @param grantFor makes the grant for the entry and generation that will be claimed.
   * @returns the claimed entry, or null when nothing in the lanes is ready.
   */
  async claim(
    tx: Tx,
    workspaceId: string,
    lanes: readonly Lane[],
    grantFor: (entryId: string, generation: number) => LeaseGrant,
  ): Promise<Entry | null> {
    if (tx.engine === 'postgres') {
      const laneIds = lanes.map((lane) => lane.lane_id);
      const claimed = await tx.runBatched(claimReady, { workspaceId, laneIds, grantFor });
      if (claimed !== 'keyed') return claimed;
      tx.requireExclusive();
    }
    const heads = new Map<string, Entry>();
    for (const lane of lanes) {
      const head = await readLaneHead(tx, workspaceId, lane.lane_id);
      if (head !== undefined) heads.set(lane.lane_id, head);
    }
    for (;;) {
      const head = firstOf(heads.values());
      if (head === null) return null;
      const key = head.concurrency_key;
      if (key === null || !(await isKeyRunning(tx, workspaceId, head.queue, key))) {
        return startAttempt(tx, head, grantFor(head.entry_id, head.attempt + 1));
      }
      await holdForKey(tx, head);
      const next = await readLaneHead(tx, workspaceId, head.lane_id);
      if (next === undefined) heads.delete(head.lane_id);
      else heads.set(head.lane_id, next);
    }
  }

  /**
   * Claims the first that lies in one of the lanes.
   *
   * @param preferred the entries that are kept for an agent (`listPreferred`), as they are now.
   */
  async claimPreferred(
    tx: Tx,
    preferred: readonly Entry[],
    lanes: readonly Lane[],
    grantFor: (entryId: string, generation: number) => LeaseGrant,
  ): Promise<Entry | null> {
    for (const entry of preferred) {
      tx.requireExclusive();
      if (!lanes.some((lane) => lane.lane_id === entry.lane_id)) continue;
      const hold = await findHold(tx, entry);
      if (hold === 'key') {
        await setHold(tx, entry.workspace_id, entry.entry_id, hold);
        continue;
      }
      return startAttempt(tx, entry, grantFor(entry.entry_id, entry.attempt + 1));
    }
    return null;
  }

  /**
   * Sets the lease to now + leaseMs; never below what remains, unless `shorten`. Once a cancel was
   * asked for, never above it either: the end of the lease ends what does not stop by itself.
   */
  async renew(tx: Tx, entry: Entry, leaseMs: number, shorten: boolean): Promise<Entry> {
    const current = entry.lease_expires_at ?? 0;
    const wanted = shorten ? tx.nowMs + leaseMs : Math.max(tx.nowMs + leaseMs, current);
    if (entry.cancel_requested_at !== null && wanted >= current) return entry;
    return updateRunning(tx, entry, { lease_ms: leaseMs, lease_expires_at: wanted });
  }

  /** Ends a running entry with an accepted completion. */
  async finish(tx: Tx, entry: Entry, status: 'done' | 'failed' | 'blocked'): Promise<Entry> {
    const isAwaited =
      status === 'done' && (await hasDependents(tx, entry.workspace_id, entry.entry_id));
    if (isAwaited) tx.requireExclusive();
    const finished = await this.#stop(tx, entry, status, 'complete');
    if (isAwaited) await promoteDependents(tx, finished, this.#onReady);
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
    // Its own running attempt ends with this very move, so its key counts as free.
    const freesKey = entry.status === 'running';
    if (entry.concurrency_key !== null) tx.requireExclusive();
    const preference = options.preference ?? null;
    const hold = await findHold(tx, {
      ...entry,
      available_at: availableAtMs,
      concurrency_key: freesKey ? null : entry.concurrency_key,
      prefer_agent_id: preference?.agentId ?? null,
      prefer_until: preference?.untilMs ?? null,
    });
    const attemptsMax = options.attemptsMax ?? entry.attempts_max;
    const place = { hold, availableAtMs, attemptsMax, preference };
    const pending = await returnToPending(tx, entry, place);
    announce(tx, pending, this.#onReady);
    if (freesKey) await promoteKeyHeld(tx, pending, this.#onReady);
    return pending;
  }

  /** Marks a running entry, or cancels any other that has not finished. */
  async cancel(tx: Tx, entry: Entry): Promise<Entry> {
    if (entry.status === 'running') {
      return entry.cancel_requested_at === null
        ? updateRunning(tx, entry, { cancel_requested_at: tx.nowMs })
        : entry;
    }
    return this.#stop(tx, entry, 'canceled', 'cancel');
  }

  /** Ends a running entry whose cancel was asked for: its agent has let go. */
  async endCanceled(tx: Tx, entry: Entry): Promise<Entry> {
    return this.#stop(tx, entry, 'canceled', 'cancel');
  }

  /** Takes a running entry from its holder, as if its lease had run out. */
  async recover(tx: Tx, lost: Entry): Promise<Recovery> {
    if (lost.cancel_requested_at !== null) {
      const entry = await this.#stop(tx, lost, 'canceled', 'cancel');
      return { lost, entry, cause: 'cancel' };
    }
    if (!this.hasAttemptsLeft(lost)) {
      const entry = await this.#stop(tx, lost, 'failed', 'attempts-exhausted');
      return { lost, entry, cause: 'attempts-exhausted' };
    }
    return { lost, entry: await this.requeue(tx, lost, 'lease-lost'), cause: 'lease-lost' };
  }

  /** Takes back leases that have run out; of all workspaces when none is named. */
  async recoverExpired(tx: Tx, workspaceId: string | null, limit: number): Promise<Recovery[]> {
    const recoveries: Recovery[] = [];
    for (const lost of await listExpired(tx, tx.nowMs, workspaceId, limit)) {
      tx.requireExclusive();
      recoveries.push(await this.recover(tx, lost));
    }
    return recoveries;
  }

  /**
   * Makes entries claimable whose delay or preference has ended; of all workspaces when none is
   * named.
   */
  promoteDue(tx: Tx, workspaceId: string | null, limit: number): Promise<number> {
    return promoteDue(tx, workspaceId, limit, this.#onReady);
  }

  async #stop(tx: Tx, entry: Entry, status: EntryStatus, cause: Cause): Promise<Entry> {
    if (!mayMove(entry.status, status, cause)) {
      throw new HubError(entry.status === 'canceled' ? 'JOB_CANCELED' : 'JOB_ALREADY_FINISHED');
    }
    if (entry.concurrency_key !== null) tx.requireExclusive();
    const stopped = await stopAttempt(tx, entry, status);
    await promoteKeyHeld(tx, stopped, this.#onReady);
    return stopped;
  }

  #remember(
    lane: Pick<Lane, 'lane_id' | 'queue' | 'repo_id' | 'kind' | 'requirements'>,
  ): LaneSpec & { needs: Needs; laneId: string } {
    const known = this.#specs.get(lane.lane_id);
    if (known !== undefined) return known;
    const spec = {
      laneId: lane.lane_id,
      queue: lane.queue,
      repoId: lane.repo_id,
      kind: lane.kind,
      requirements: lane.requirements,
      needs: JSON.parse(lane.requirements) as Needs,
    };
    this.#specs.set(lane.lane_id, spec);
    return spec;
  }

  async #ensureLane(tx: Tx, workspaceId: string, spec: LaneSpec): Promise<string> {
    const laneId = this.#remember({
      lane_id: laneIdOf(spec),
      repo_id: spec.repoId,
      ...spec,
    }).laneId;
    const known = `${workspaceId} ${laneId}`;
    if (tx.nowMs - (this.#usedLanesAtMs.get(known) ?? 0) < LANE_KNOWN_MS) return laneId;
    await insertLane(tx, {
      workspace_id: workspaceId,
      lane_id: laneId,
      queue: spec.queue,
      repo_id: spec.repoId,
      kind: spec.kind,
      requirements: spec.requirements,
    });
    const usedAtMs = tx.nowMs;
    tx.afterCommit(() => this.#usedLanesAtMs.set(known, usedAtMs));
    return laneId;
  }
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
  log_seq: 0,
  heartbeat_seq: null,
  heartbeat_count: 0,
  prefer_agent_id: null,
  prefer_until: null,
} as const;

/** The head with the lowest sort key; ids rise with time, so they break ties first-in-first-out. */
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
