import type { Reader } from '../db/engine.ts';
import type { ItemRow } from './store.ts';

/** What the choice of a pack's items reads of each; texts are copied by the database itself. */
const columns = [
  'workspace_id',
  'item_id',
  'title',
  'source',
  'trust',
  'tokens',
  'content_hash',
  'superseded_by',
  'valid_from',
  'valid_to',
  'updated_at',
] as const satisfies readonly (keyof ItemRow)[];

/** An item that may go into a pack. */
export type Candidate = Pick<ItemRow, (typeof columns)[number]>;

const select = `SELECT ${columns.join(', ')} FROM context_items`;

/** Those of the ids that exist, by their ids. */
export async function readCandidates(
  reader: Reader,
  workspaceId: string,
  itemIds: readonly string[],
): Promise<Map<string, Candidate>> {
  if (itemIds.length === 0) return new Map();
  const rows = await reader.allSql<Candidate>(
    `${select} WHERE workspace_id = ? AND item_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(itemIds)],
  );
  return new Map(rows.map((row) => [row.item_id, row]));
}

/** Items that go into every pack, newest first. */
export function listPinned(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<Candidate[]> {
  return reader.allSql<Candidate>(
    `${select} WHERE workspace_id = ? AND pinned = 1 AND superseded_by IS NULL
     ORDER BY occurred_at DESC, item_id DESC LIMIT ?`,
    [workspaceId, limit],
  );
}

/** Current items, newest first. */
export function listRecent(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<Candidate[]> {
  return reader.allSql<Candidate>(
    `${select} WHERE workspace_id = ? AND superseded_by IS NULL
     ORDER BY occurred_at DESC, item_id DESC LIMIT ?`,
    [workspaceId, limit],
  );
}
