import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/tables.ts';

/** An entry that has ended, as far as retention looks at it. */
export interface EndedEntry {
  entry_id: string;
  finished_at: number;
  /** 1: other entries wait for it, so it stays. */
  is_needed: number;
}

/** An entry that is to go, as it was when that was decided. */
export interface Removal {
  workspace_id: string;
  entry_id: string;
  queue: QueueName;
  finished_at: number;
  /** Number of its last event then; 0 for what has no timeline. */
  last_seq: number;
}

/** What is so when a removal comes to be done. */
export interface RemovalState extends Removal {
  /** Null: the entry is gone, and only events are left. */
  status: string | null;
  finished_now: number | null;
  last_seq_now: number;
  is_needed: number;
  /** JSON array of the jobs that it waited for. */
  depends_on: string | null;
}

/** Statuses that retention ends; a blocked job still waits for a person. */
export const endedStatuses = ['done', 'failed', 'canceled'] as const;
export type EndedStatus = (typeof endedStatuses)[number];

const IS_NEEDED = `EXISTS (SELECT 1 FROM queue_dependencies d
  WHERE d.workspace_id = e.workspace_id AND d.depends_on_entry_id = e.entry_id)`;

/** Ended entries in the order of their ids, which is that of their creation. */
export function listEnded(
  reader: Reader,
  place: { workspaceId: string; queue: QueueName; status: EndedStatus },
  page: { afterId: string; untilId: string; limit: number },
): Promise<EndedEntry[]> {
  return reader.allSql<EndedEntry>(
    `SELECT e.entry_id, e.finished_at, CASE WHEN ${IS_NEEDED} THEN 1 ELSE 0 END AS is_needed
     FROM queue_entries e
     WHERE e.workspace_id = ? AND e.queue = ? AND e.status = ?
       AND e.entry_id > ? AND e.entry_id < ?
     ORDER BY e.entry_id LIMIT ?`,
    [place.workspaceId, place.queue, place.status, page.afterId, page.untilId, page.limit],
  );
}

/** Rows of one statement. */
const INSERTED_ROWS_MAX = 100;

/** Notes what is to go; what was noted before stays as it was noted. */
export async function insertRemovals(tx: Tx, removals: readonly Removal[]): Promise<void> {
  for (let from = 0; from < removals.length; from += INSERTED_ROWS_MAX) {
    const rows = removals.slice(from, from + INSERTED_ROWS_MAX);
    await tx.runSql(
      `INSERT INTO entry_removals (workspace_id, entry_id, queue, finished_at, last_seq)
       VALUES ${rows.map(() => '(?, ?, ?, ?, ?)').join(', ')} ON CONFLICT DO NOTHING`,
      rows.flatMap((row) => [
        row.workspace_id,
        row.entry_id,
        row.queue,
        row.finished_at,
        row.last_seq,
      ]),
    );
  }
}

/** What is to go of a workspace, and what has become of it since it was noted. */
export function listRemovals(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<RemovalState[]> {
  return reader.allSql<RemovalState>(
    `SELECT r.*, e.status, e.finished_at AS finished_now, j.depends_on,
       COALESCE((SELECT MAX(v.seq) FROM job_events v
         WHERE v.workspace_id = r.workspace_id AND v.job_id = r.entry_id), 0) AS last_seq_now,
       CASE WHEN ${IS_NEEDED} THEN 1 ELSE 0 END AS is_needed
     FROM entry_removals r
       LEFT JOIN queue_entries e ON e.workspace_id = r.workspace_id AND e.entry_id = r.entry_id
       LEFT JOIN jobs j ON j.workspace_id = r.workspace_id AND j.job_id = r.entry_id
     WHERE r.workspace_id = ? ORDER BY r.entry_id LIMIT ?`,
    [workspaceId, limit],
  );
}

export async function hasRemovals(reader: Reader, workspaceId: string): Promise<boolean> {
  const row = await reader.firstSql('SELECT 1 FROM entry_removals WHERE workspace_id = ? LIMIT 1', [
    workspaceId,
  ]);
  return row !== undefined;
}

export async function deleteRemovals(
  tx: Tx,
  workspaceId: string,
  entryIds: readonly string[],
): Promise<void> {
  await deleteByIds(tx, 'entry_removals', 'entry_id', workspaceId, entryIds);
}

/** Takes entries away with their wide halves; their timelines are left. */
export async function deleteEntries(
  tx: Tx,
  workspaceId: string,
  entryIds: readonly string[],
): Promise<void> {
  await deleteByIds(tx, 'queue_entries', 'entry_id', workspaceId, entryIds);
  await deleteByIds(tx, 'jobs', 'job_id', workspaceId, entryIds);
  await deleteByIds(tx, 'cloud_ai_jobs', 'cloud_ai_job_id', workspaceId, entryIds);
}

/** What entries waited for that were canceled before it was done. */
export async function deleteDependencies(
  tx: Tx,
  workspaceId: string,
  entryId: string,
  dependsOn: readonly string[],
): Promise<void> {
  await tx.runSql(
    `DELETE FROM queue_dependencies WHERE workspace_id = ? AND entry_id = ?
       AND depends_on_entry_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, entryId, JSON.stringify(dependsOn)],
  );
}

export async function deleteTimelines(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  await deleteByIds(tx, 'job_events', 'job_id', workspaceId, jobIds);
}

/** Deletes the beginning of a timeline. @returns how many events. */
export async function deleteFirstEvents(
  tx: Tx,
  workspaceId: string,
  jobId: string,
  limit: number,
): Promise<number> {
  const { changes } = await tx.runSql(
    `DELETE FROM job_events WHERE workspace_id = ? AND job_id = ? AND seq < ? +
       (SELECT MIN(seq) FROM job_events WHERE workspace_id = ? AND job_id = ?)`,
    [workspaceId, jobId, limit, workspaceId, jobId],
  );
  return changes;
}

async function deleteByIds(
  tx: Tx,
  table: 'entry_removals' | 'queue_entries' | 'jobs' | 'cloud_ai_jobs' | 'job_events',
  column: string,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.runSql(
    `DELETE FROM ${table} WHERE workspace_id = ?
       AND ${column} IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(ids)],
  );
}
