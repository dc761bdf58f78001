import type { KeptRead, Reader, Tx } from '../db/engine.ts';
import { allKept } from '../db/kept-reads.ts';
import { deleteRows, insertNewRow, sql, updateRows } from '../db/row-write.ts';
import type { QueueName } from '../db/schema/queue.ts';
import type { Lane } from './entry.ts';
import { REQUIREMENTS_BYTES_MAX } from './matching.ts';

/** Creates a lane, or records that it is in use, which makes it active. */
export async function useLane(tx: Tx, lane: Omit<Lane, 'used_at' | 'idle'>): Promise<void> {
  await insertNewRow(tx, 'queue_lanes', { ...lane, used_at: tx.nowMs, idle: 0 }, [
    'workspace_id',
    'lane_id',
  ]);
  await touchLane(tx, lane.workspace_id, lane.lane_id);
}

/** Records that an existing lane is in use, which makes it active. */
export async function touchLane(tx: Tx, workspaceId: string, laneId: string): Promise<void> {
  await updateRows(
    tx,
    'queue_lanes',
    { workspace_id: workspaceId, lane_id: laneId },
    { used_at: tx.nowMs, idle: 0 },
  );
}

/** The place that the number of active lanes is bounded for. */
export type LanePlace = Pick<Lane, 'workspace_id' | 'queue' | 'repo_id'>;

/** Reads a lane without its requirements. */
export function readLane(
  reader: Reader,
  workspaceId: string,
  laneId: string,
): Promise<(LanePlace & Pick<Lane, 'idle'>) | undefined> {
  return reader.firstSql(
    `SELECT workspace_id, queue, repo_id, idle FROM queue_lanes
     WHERE workspace_id = ? AND lane_id = ?`,
    [workspaceId, laneId],
  );
}

export async function countActiveLanes(
  reader: Reader,
  { workspace_id, queue, repo_id }: LanePlace,
): Promise<number> {
  const row = await reader.firstSql<{ lanes: number }>(
    `SELECT COUNT(*) AS lanes FROM queue_lanes
     WHERE workspace_id = ? AND queue = ? AND repo_id = ? AND idle = 0`,
    [workspace_id, queue, repo_id],
  );
  return row?.lanes ?? 0;
}

type ActiveLane = Pick<Lane, 'lane_id' | 'repo_id' | 'kind'>;

const activeLanes: KeptRead = {
  sql: `SELECT lane_id, repo_id, kind FROM queue_lanes WHERE workspace_id = ? AND queue = ?
    AND repo_id IN (SELECT value FROM json_each(?)) AND idle = 0`,
  sources: ['queue_lanes'],
};

/** The active lanes of some repositories, without their requirements. */
export function listActiveLanes(
  reader: Reader,
  workspaceId: string,
  queue: QueueName,
  repoIds: readonly string[],
): Promise<readonly ActiveLane[]> {
  return allKept<ActiveLane>(reader, activeLanes, [workspaceId, queue, JSON.stringify(repoIds)]);
}

export type LaneRequirements = Pick<Lane, 'lane_id' | 'queue' | 'repo_id' | 'kind'> & {
  /** Null when they are longer than the limit, as older versions allowed. */
  requirements: string | null;
};

/** Reads lanes of a workspace with their requirements, at most as many as one statement may. */
export function readRequirements(
  reader: Reader,
  workspaceId: string,
  laneIds: readonly string[],
): Promise<LaneRequirements[]> {
  return reader.allSql<LaneRequirements>(
    `SELECT lane_id, queue, repo_id, kind,
       CASE WHEN LENGTH(requirements) <= ${REQUIREMENTS_BYTES_MAX} THEN requirements END
         AS requirements
     FROM queue_lanes WHERE workspace_id = ? AND lane_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(laneIds)],
  );
}

const HAS_NO_PENDING = `NOT EXISTS (SELECT 1 FROM queue_entries e
  WHERE e.workspace_id = l.workspace_id AND e.lane_id = l.lane_id AND e.status = 'pending')`;

/** Workspaces with active lanes that were not used since a time. */
export async function listUnusedLaneWorkspaces(
  reader: Reader,
  usedBeforeMs: number,
): Promise<string[]> {
  const rows = await reader.allSql<{ workspace_id: string }>(
    `SELECT DISTINCT l.workspace_id FROM queue_lanes l
     WHERE l.idle = 0 AND l.used_at < ? AND ${HAS_NO_PENDING}`,
    [usedBeforeMs],
  );
  return rows.map((row) => row.workspace_id);
}

/**
 * Makes active lanes idle to which no pending or running entry belongs and that were not used since
 * a time, so that claims no longer look at them.
 *
 * @param place restricts it to a repository's lanes of a queue.
 */
export async function makeLanesIdle(
  tx: Tx,
  place: Pick<Lane, 'workspace_id'> & Partial<LanePlace>,
  usedBeforeMs: number,
): Promise<void> {
  const isUnused = sql(
    `idle = 0 AND used_at < ?
       AND NOT EXISTS (SELECT 1 FROM queue_entries e
         WHERE e.workspace_id = queue_lanes.workspace_id AND e.lane_id = queue_lanes.lane_id
           AND e.status = 'pending')
       AND lane_id NOT IN (SELECT r.lane_id FROM queue_entries r
         WHERE r.workspace_id = ? AND r.status = 'running')`,
    usedBeforeMs,
    place.workspace_id,
  );
  await updateRows(tx, 'queue_lanes', { ...place, also: isUnused }, { idle: 1 });
}

/** A lane after which a walk over all lanes continues. */
type LaneKey = Pick<Lane, 'workspace_id' | 'lane_id'>;

/** Lists idle lanes in the order of their keys, and whether an ended entry belongs to each. */
export function listIdleLanes(
  reader: Reader,
  after: LaneKey,
  limit: number,
): Promise<(LaneKey & { has_entry: number })[]> {
  return reader.allSql(
    `SELECT l.workspace_id, l.lane_id, CASE WHEN EXISTS (SELECT 1 FROM queue_entries e
       WHERE e.workspace_id = l.workspace_id AND e.lane_id = l.lane_id
         AND e.finished_at IS NOT NULL) THEN 1 ELSE 0 END AS has_entry
     FROM queue_lanes l WHERE l.idle = 1 AND (l.workspace_id, l.lane_id) > (?, ?)
     ORDER BY l.workspace_id, l.lane_id LIMIT ?`,
    [after.workspace_id, after.lane_id, limit],
  );
}

/** Deletes those of some lanes that are idle and without entries, not even an ended one. */
export async function deleteEmptyLanes(
  tx: Tx,
  workspaceId: string,
  laneIds: readonly string[],
): Promise<void> {
  const isEmpty = sql(
    `NOT EXISTS (SELECT 1 FROM queue_entries e WHERE e.workspace_id = queue_lanes.workspace_id
         AND e.lane_id = queue_lanes.lane_id AND e.finished_at IS NOT NULL)
       AND NOT EXISTS (SELECT 1 FROM queue_entries e WHERE e.workspace_id = queue_lanes.workspace_id
         AND e.lane_id = queue_lanes.lane_id AND e.status = 'pending')`,
  );
  const where = { workspace_id: workspaceId, lane_id: laneIds, idle: 1, also: isEmpty } as const;
  await deleteRows(tx, 'queue_lanes', where);
}

/** A repository, a kind, or both. */
export interface LaneFilter {
  kind?: string | undefined;
  repoId?: string | undefined;
}

/** The ids of the lanes of a repository, of a kind, or both, idle ones included. */
export async function listLaneIds(
  reader: Reader,
  workspaceId: string,
  queue: QueueName,
  { kind, repoId }: LaneFilter,
  limit: number,
): Promise<string[]> {
  const rows = await reader.allSql<{ lane_id: string }>(
    `SELECT lane_id FROM queue_lanes WHERE workspace_id = ? AND queue = ?
       ${repoId === undefined ? '' : 'AND repo_id = ?'} ${kind === undefined ? '' : 'AND kind = ?'} LIMIT ?`,
    [workspaceId, queue, ...[repoId, kind].filter((value) => value !== undefined), limit],
  );
  return rows.map((row) => row.lane_id);
}

/** The condition that the lane of an entry `e` is of a repository, of a kind, or both. */
export function laneCondition({ kind, repoId }: LaneFilter): {
  where: string;
  values: readonly string[];
} {
  return {
    where: `EXISTS (SELECT 1 FROM queue_lanes l
      WHERE l.workspace_id = e.workspace_id AND l.lane_id = e.lane_id
        ${repoId === undefined ? '' : 'AND l.repo_id = ?'}
        ${kind === undefined ? '' : 'AND l.kind = ?'})`,
    values: [repoId, kind].filter((value) => value !== undefined),
  };
}

/** The most entries counted in a lane: more than there are claims to wake at a time. */
const READY_MAX = 64;

interface ReadyLane {
  workspace_id: string;
  lane_id: string;
  /** How many entries are ready, at most `READY_MAX`. */
  ready: number;
}

/**
 * Lists the lanes of some workspaces that have ready entries, for a hub that may have missed
 * notifications of other hubs. PostgreSQL only. The query steps from lane to lane, so a workspace
 * without ready entries costs one index lookup, and a long lane only a few.
 */
export function listReadyLanes(
  reader: Reader,
  workspaceIds: readonly string[],
): Promise<ReadyLane[]> {
  const next = (after: string) => `(SELECT e.lane_id FROM queue_entries AS e
    WHERE e.workspace_id = l.workspace_id AND e.hold = 'ready' ${after}
    ORDER BY e.lane_id LIMIT 1)`;
  return reader.allSql<ReadyLane>(
    `WITH RECURSIVE ready_lanes AS (
       SELECT l.workspace_id, ${next('')} AS lane_id
       FROM json_array_elements_text(?::json) AS l(workspace_id)
       UNION ALL
       SELECT l.workspace_id, ${next('AND e.lane_id > l.lane_id')}
       FROM ready_lanes AS l WHERE l.lane_id IS NOT NULL
     )
     SELECT workspace_id, lane_id, (
       SELECT COUNT(*) FROM (
         SELECT 1 FROM queue_entries AS e
         WHERE e.workspace_id = r.workspace_id AND e.lane_id = r.lane_id AND e.hold = 'ready'
         LIMIT ${READY_MAX}
       ) AS few
     ) AS ready
     FROM ready_lanes AS r WHERE lane_id IS NOT NULL`,
    [JSON.stringify(workspaceIds)],
  );
}
