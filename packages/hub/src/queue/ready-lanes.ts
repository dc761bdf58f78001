import type { Reader } from '../db/engine.ts';
import type { Lane } from './entry.ts';

/** More of a lane than there are claims to wake at a time. */
const READY_MAX = 64;

export interface ReadyLane {
  workspace_id: string;
  lane_id: string;
  /** Entries that are ready, as far as it was counted. */
  ready: number;
}

/**
 * The lanes of some workspaces in which something is ready, for a hub that may have missed what
 * others told. On PostgreSQL; it steps from lane to lane, so that a workspace in which nothing is
 * ready costs one look into an index, and a full lane no more than a few.
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

/** On PostgreSQL. */
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
