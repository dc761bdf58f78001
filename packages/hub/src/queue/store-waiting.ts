import type { Reader } from '../db/engine.ts';
import type { QueueName } from '../db/schema/queue.ts';
import { listActiveLanes } from './store-lanes.ts';

/*
 * Reads that explain to people why an entry waits.
 */

/** Counts the ready entries of a repository that are ahead of a place, up to `countMax`. */
export async function countReadyBefore(
  reader: Reader,
  place: {
    workspaceId: string;
    queue: QueueName;
    repoId: string;
    sortKey: number;
    entryId: string;
  },
  countMax: number,
): Promise<number> {
  const { workspaceId, queue, repoId, sortKey, entryId } = place;
  let ahead = 0;
  const lanes = await listActiveLanes(reader, workspaceId, queue, [repoId]);
  for (const { lane_id: laneId } of lanes) {
    // One range of one index for each lane.
    const row = await reader.firstSql<{ ahead: number }>(
      `SELECT COUNT(*) AS ahead FROM (
         SELECT 1 FROM queue_entries
         WHERE workspace_id = ? AND lane_id = ? AND hold = 'ready' AND (sort_key, entry_id) < (?, ?)
         LIMIT ?) AS before`,
      [workspaceId, laneId, sortKey, entryId, countMax - ahead],
    );
    ahead += row?.ahead ?? 0;
    if (ahead >= countMax) return countMax;
  }
  return ahead;
}

/** Those of some entries that are not done, with their status; at most 100. */
export function listNotDone(
  reader: Reader,
  workspaceId: string,
  entryIds: readonly string[],
): Promise<{ entry_id: string; status: string }[]> {
  return reader.allSql(
    `SELECT e.entry_id, e.status FROM json_each(?) d
     JOIN queue_entries e ON e.workspace_id = ? AND e.entry_id = d.value
     WHERE e.status <> 'done' LIMIT 100`,
    [JSON.stringify(entryIds), workspaceId],
  );
}

/** Counts the entries that wait for one to be done, directly or not, up to `countMax`. */
export async function countDependents(
  reader: Reader,
  workspaceId: string,
  entryId: string,
  countMax: number,
): Promise<number> {
  const row = await reader.firstSql<{ waiting: number }>(
    `WITH RECURSIVE dependents(id) AS (
       SELECT entry_id FROM queue_dependencies
       WHERE workspace_id = ? AND depends_on_entry_id = ?
       UNION
       SELECT d.entry_id FROM dependents
       JOIN queue_dependencies AS d
         ON d.workspace_id = ? AND d.depends_on_entry_id = dependents.id)
     SELECT COUNT(*) AS waiting FROM (SELECT id FROM dependents LIMIT ?) AS few`,
    [workspaceId, entryId, workspaceId, countMax],
  );
  return row?.waiting ?? 0;
}

/** Dependents looked at for all entries of `countWaitingOnEach`: a few milliseconds. */
const DEPENDENTS_MAX = 10_000;

/**
 * Counts for each of some entries how many do not run until it continues: itself, if it is blocked,
 * and those that wait for it to be done. Entries for which none waits are left out.
 */
export async function countWaitingOnEach(
  reader: Reader,
  workspaceId: string,
  entryIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const wanted = JSON.stringify(entryIds);
  const rows = await reader.allSql<{ root: string; waiting: number }>(
    `WITH RECURSIVE dependents(root, id) AS (
       SELECT depends_on_entry_id, entry_id FROM queue_dependencies
       WHERE workspace_id = ? AND depends_on_entry_id IN (SELECT value FROM json_each(?))
       UNION
       SELECT dependents.root, d.entry_id FROM dependents
       JOIN queue_dependencies AS d
         ON d.workspace_id = ? AND d.depends_on_entry_id = dependents.id)
     SELECT root, COUNT(*) AS waiting
     FROM (SELECT root FROM dependents LIMIT ${DEPENDENTS_MAX}) AS few GROUP BY root
     UNION ALL
     SELECT entry_id AS root, 1 AS waiting FROM queue_entries
     WHERE workspace_id = ? AND status = 'blocked'
       AND entry_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, wanted, workspaceId, workspaceId, wanted],
  );
  const counts = new Map<string, number>();
  for (const { root, waiting } of rows) counts.set(root, (counts.get(root) ?? 0) + waiting);
  return counts;
}

/** The running entry that holds a concurrency key. */
export function readKeyHolder(
  reader: Reader,
  workspaceId: string,
  queue: QueueName,
  key: string,
): Promise<{ entry_id: string } | undefined> {
  return reader.firstSql(
    `SELECT entry_id FROM queue_entries
     WHERE workspace_id = ? AND queue = ? AND concurrency_key = ? AND status = 'running'`,
    [workspaceId, queue, key],
  );
}

/** Counts the entries that each agent of a workspace holds; agents that hold none are left out. */
export async function countRunningByAgent(
  reader: Reader,
  workspaceId: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.allSql<{ agent_id: string; running: number }>(
    `SELECT agent_id, COUNT(*) AS running FROM queue_entries
     WHERE workspace_id = ? AND status = 'running' GROUP BY agent_id`,
    [workspaceId],
  );
  return new Map(rows.map(({ agent_id, running }) => [agent_id, running]));
}
