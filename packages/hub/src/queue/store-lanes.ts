import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/tables.ts';
import type { Lane } from './entry.ts';

/** Creates a lane, or records that it is in use. */
export async function insertLane(tx: Tx, lane: Omit<Lane, 'used_at'>): Promise<void> {
  await tx.runSql(
    `INSERT INTO queue_lanes (workspace_id, lane_id, queue, repo_id, kind, requirements, used_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [
      lane.workspace_id,
      lane.lane_id,
      lane.queue,
      lane.repo_id,
      lane.kind,
      lane.requirements,
      tx.nowMs,
    ],
  );
  await tx.runSql(
    'UPDATE queue_lanes SET used_at = ? WHERE workspace_id = ? AND lane_id = ? AND used_at < ?',
    [tx.nowMs, lane.workspace_id, lane.lane_id, tx.nowMs],
  );
}

/** The lanes of some repositories. */
export function listLanes(
  reader: Reader,
  workspaceId: string,
  queue: QueueName,
  repoIds: readonly string[],
): Promise<Lane[]> {
  return reader.allSql<Lane>(
    `SELECT * FROM queue_lanes WHERE workspace_id = ? AND queue = ?
       AND repo_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, queue, JSON.stringify(repoIds)],
  );
}

/** Lanes without recent enqueues to which no entry belongs, not even a finished one. */
const IDLE_LANES = `FROM queue_lanes l WHERE l.used_at < ?
  AND NOT EXISTS (SELECT 1 FROM queue_entries e WHERE e.workspace_id = l.workspace_id
    AND e.lane_id = l.lane_id AND e.finished_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM queue_entries e WHERE e.workspace_id = l.workspace_id
    AND e.lane_id = l.lane_id AND e.status = 'pending')
  AND NOT EXISTS (SELECT 1 FROM queue_entries e WHERE e.workspace_id = l.workspace_id
    AND e.lane_id = l.lane_id AND e.status = 'running')`;

/** Workspaces that have idle lanes. */
export async function listIdleLaneWorkspaces(
  reader: Reader,
  usedBeforeMs: number,
): Promise<string[]> {
  const rows = await reader.allSql<{ workspace_id: string }>(
    `SELECT DISTINCT l.workspace_id ${IDLE_LANES}`,
    [usedBeforeMs],
  );
  return rows.map((row) => row.workspace_id);
}

/** Deletes the idle lanes of a workspace. A lane with entries stays: a retry needs it. */
export async function deleteIdleLanes(
  tx: Tx,
  workspaceId: string,
  usedBeforeMs: number,
): Promise<number> {
  const { changes } = await tx.runSql(
    `DELETE FROM queue_lanes WHERE workspace_id = ? AND lane_id IN (
       SELECT l.lane_id ${IDLE_LANES} AND l.workspace_id = ?)`,
    [workspaceId, usedBeforeMs, workspaceId],
  );
  return changes;
}

/** The ids of the lanes of a repository, of a kind, or both. */
export async function listLaneIds(
  reader: Reader,
  workspaceId: string,
  queue: QueueName,
  { kind, repoId }: { kind?: string | undefined; repoId?: string | undefined },
): Promise<string[]> {
  const rows = await reader.allSql<{ lane_id: string }>(
    `SELECT lane_id FROM queue_lanes WHERE workspace_id = ? AND queue = ?
       ${repoId === undefined ? '' : 'AND repo_id = ?'} ${kind === undefined ? '' : 'AND kind = ?'}`,
    [workspaceId, queue, ...[repoId, kind].filter((value) => value !== undefined)],
  );
  return rows.map((row) => row.lane_id);
}

/** The most entries counted in a lane: more than there are claims to wake at a time. */
const READY_MAX = 64;

export interface ReadyLane {
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

/** Reads lanes by their ids. PostgreSQL only. */
export function readLanes(
  reader: Reader,
  lanes: readonly Pick<Lane, 'workspace_id' | 'lane_id'>[],
): Promise<Lane[]> {
  return reader.allSql<Lane>(
    `SELECT l.* FROM json_to_recordset(?::json) AS wanted(workspace_id text, lane_id text)
     JOIN queue_lanes AS l
       ON l.workspace_id = wanted.workspace_id AND l.lane_id = wanted.lane_id`,
    [JSON.stringify(lanes)],
  );
}
