import type { AgentCapabilities } from '@signalbox/contract';
import { BoundedMap } from '../base/bounded-map.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/queue.ts';
import { type Entry, type LaneSpec, laneIdOf } from './entry.ts';
import { isPlain, type Needs } from './matching.ts';
import {
  countActiveLanes,
  type LanePlace,
  type LaneRequirements,
  listActiveLanes,
  makeLanesIdle,
  readLane,
  readRequirements,
  touchLane,
  useLane,
} from './store-lanes.ts';

/**
 * How long a hub may assume that a lane is still active after writing it. No hub makes a lane idle
 * that was written since, so no pending entry is without an active lane.
 */
const LANE_KNOWN_MS = 10 * 60 * 1_000;
/** Active lanes of a repository in one queue. A claim looks at each of them. */
export const LANES_MAX = 500;
/**
 * How long a repository without a free lane is taken to have none: to look for one reads all of its
 * lanes.
 */
const LANES_FULL_MS = 1_000;
/** Lanes kept in memory, of at most about 4 KB each; others are read again. */
const LANES_KEPT_MAX = 5_000;
/** Lanes whose requirements one statement reads: at most 200 KB. */
const READ_MAX = 100;

/** The entries that an agent may claim now. */
export interface Demand {
  queue: QueueName;
  repoIds: ReadonlySet<string>;
  capabilities: AgentCapabilities;
  /** Null: all kinds. */
  kinds: readonly string[] | null;
}

/** A lane as claims compare it with an agent. */
interface KnownLane {
  laneId: string;
  queue: QueueName;
  repoId: string;
  kind: string;
  /** Null when its requirements are longer than the limit: no agent meets them. */
  needs: Needs | null;
}

/** The lanes of the queue: which are active, bounded in number, and what each requires. */
export class LaneBook {
  /** When this hub last wrote each lane, by the database's clock. */
  readonly #usedAtMs = new BoundedMap<string, number>(LANES_KEPT_MAX);
  /** When a place was found to have no free lane, by the database's clock. */
  readonly #fullAtMs = new BoundedMap<string, number>(LANES_KEPT_MAX);
  /** Lanes by id. An id is a hash of its lane, so this cache never becomes stale. */
  readonly #known = new BoundedMap<string, KnownLane>(LANES_KEPT_MAX);

  /** A lane that this hub knows. */
  find(laneId: string): KnownLane | undefined {
    return this.#known.get(laneId);
  }

  /**
   * Makes sure that the lane of a new entry exists and is active.
   * @returns its id.
   * @throws HubError LIMIT_REACHED
   */
  async use(tx: Tx, workspaceId: string, spec: LaneSpec): Promise<string> {
    const laneId = laneIdOf(spec);
    const { queue, repoId, kind, requirements } = spec;
    const { needs } = this.#remember({
      lane_id: laneId,
      queue,
      repo_id: repoId,
      kind,
      requirements,
    });
    if (this.#isFresh(tx, workspaceId, laneId)) return laneId;
    const place = { workspace_id: workspaceId, queue, repo_id: repoId };
    const existing = await readLane(tx, workspaceId, laneId);
    const isNew = existing === undefined || existing.idle === 1;
    // Plain lanes are few, so ordinary jobs are accepted however many lanes others have made.
    if (isNew && needs !== null && !isPlain(needs)) await this.#requireFreeLane(tx, place);
    await useLane(tx, { ...place, lane_id: laneId, kind, requirements });
    this.#noteUse(tx, workspaceId, laneId);
    return laneId;
  }

  /**
   * Makes sure that the lane of an entry that becomes pending again is active.
   * @throws HubError LIMIT_REACHED if `isBounded`
   */
  async useAgain(
    tx: Tx,
    { workspace_id: workspaceId, lane_id: laneId }: Entry,
    { isBounded }: { isBounded: boolean },
  ): Promise<void> {
    if (this.#isFresh(tx, workspaceId, laneId)) return;
    const lane = await readLane(tx, workspaceId, laneId);
    assert(lane !== undefined, 'the lane of an entry exists');
    if (isBounded && lane.idle === 1) await this.#requireFreeLane(tx, lane);
    await touchLane(tx, workspaceId, laneId);
    this.#noteUse(tx, workspaceId, laneId);
  }

  /** The active lanes that a demand may be for, by repository and kind. */
  async listActive(reader: Reader, workspaceId: string, demand: Demand): Promise<KnownLane[]> {
    const { queue, repoIds, kinds } = demand;
    const active = await listActiveLanes(reader, workspaceId, queue, [...repoIds]);
    const lanes: KnownLane[] = [];
    const unknown: string[] = [];
    for (const { lane_id: laneId, kind } of active) {
      if (kinds !== null && !kinds.includes(kind)) continue;
      const known = this.#known.get(laneId);
      if (known === undefined) unknown.push(laneId);
      else lanes.push(known);
    }
    // Collected apart from the cache, which may be smaller than the lanes of a claim.
    lanes.push(...(await this.#read(reader, workspaceId, unknown)));
    return lanes;
  }

  /** Loads lanes that another hub reported. */
  async learn(reader: Reader, workspaceId: string, laneIds: readonly string[]): Promise<void> {
    const unknown = laneIds.filter((laneId) => !this.#known.has(laneId));
    await this.#read(reader, workspaceId, unknown);
  }

  async #read(reader: Reader, workspaceId: string, laneIds: readonly string[]) {
    const lanes: KnownLane[] = [];
    for (let at = 0; at < laneIds.length; at += READ_MAX) {
      const rows = await readRequirements(reader, workspaceId, laneIds.slice(at, at + READ_MAX));
      for (const row of rows) lanes.push(this.#remember(row));
    }
    return lanes;
  }

  #remember(lane: LaneRequirements): KnownLane {
    const known = this.#known.get(lane.lane_id);
    if (known !== undefined) return known;
    const { lane_id: laneId, queue, repo_id: repoId, kind, requirements } = lane;
    const needs = requirements === null ? null : (JSON.parse(requirements) as Needs);
    const remembered = { laneId, queue, repoId, kind, needs };
    this.#known.set(laneId, remembered);
    return remembered;
  }

  #isFresh(tx: Tx, workspaceId: string, laneId: string): boolean {
    return tx.nowMs - (this.#usedAtMs.get(`${workspaceId} ${laneId}`) ?? 0) < LANE_KNOWN_MS;
  }

  #noteUse(tx: Tx, workspaceId: string, laneId: string): void {
    const { nowMs } = tx;
    tx.afterCommit(() => this.#usedAtMs.set(`${workspaceId} ${laneId}`, nowMs));
  }

  /** @throws HubError LIMIT_REACHED when all lanes of the repository are in use */
  async #requireFreeLane(tx: Tx, place: LanePlace): Promise<void> {
    const key = `${place.workspace_id} ${place.queue} ${place.repo_id}`;
    if (tx.nowMs - (this.#fullAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= LANES_FULL_MS) {
      if ((await countActiveLanes(tx, place)) < LANES_MAX) return;
      await makeLanesIdle(tx, place, tx.nowMs - LANE_KNOWN_MS);
      if ((await countActiveLanes(tx, place)) < LANES_MAX) return;
      this.#fullAtMs.set(key, tx.nowMs);
    }
    throw new HubError(
      'LIMIT_REACHED',
      `The queue has jobs with ${LANES_MAX} different requirements for this repository: use fewer ` +
        'labels, or wait until some of these jobs have ended.',
    );
  }
}
