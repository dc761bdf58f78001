import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows } from '../db/row-write.ts';
import type { QueueName } from '../db/schema/queue.ts';

/*
 * Statements for the retention of finished entries (`archive/`).
 */

/** Statuses that end an entry; a blocked one still waits for a person. */
export const endedStatuses = ['done', 'failed', 'canceled'] as const;
export type EndedStatus = (typeof endedStatuses)[number];

const IS_NEEDED = `EXISTS (SELECT 1 FROM queue_dependencies d
  WHERE d.workspace_id = e.workspace_id AND d.depends_on_entry_id = e.entry_id)`;

interface EndedEntry {
  entry_id: string;
  finished_at: number;
  /** 1 when other entries wait for it, so it is not deleted. */
  is_needed: number;
}

/** Lists ended entries in the order of their ids, which is the order of their creation. */
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

export interface FinishedState {
  entry_id: string;
  /** Null when the entry is active again. */
  finished_at: number | null;
  is_needed: number;
}

/** The current state of some entries; deleted ones are left out. */
export function listFinishedStates(
  reader: Reader,
  workspaceId: string,
  entryIds: readonly string[],
): Promise<FinishedState[]> {
  return reader.allSql<FinishedState>(
    `SELECT e.entry_id, e.finished_at, CASE WHEN ${IS_NEEDED} THEN 1 ELSE 0 END AS is_needed
     FROM queue_entries e
     WHERE e.workspace_id = ? AND e.entry_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(entryIds)],
  );
}

/** Deletes entries. Their module deletes their rows in the same transaction. */
export async function deleteEntries(
  tx: Tx,
  workspaceId: string,
  entryIds: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'queue_entries', { workspace_id: workspaceId, entry_id: entryIds });
}
