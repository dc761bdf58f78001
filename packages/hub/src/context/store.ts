import type { endpoints, RequestInput } from '@signalbox/contract';
import type { Reader, SqlValue } from '../db/engine.ts';
import { allColumns, columnsWithout } from '../db/schema/columns.ts';
import type { ContextItemsTable } from '../db/schema/context.ts';
import { matchText } from '../db/text-hash.ts';

export type ContextItemRow = ContextItemsTable;

/** An item with only the beginning of its text. */
export type ContextItemHead = Omit<ContextItemRow, 'text'> & { beginning: string };

/** A place in the list of items: the next page starts after this item. */
export interface ItemPlace {
  occurredAtMs: number;
  itemId: string;
}

/** More than any excerpt shows. */
const BEGINNING_CHARS = 1_000;

const selectHead = `SELECT ${columnsWithout('context_items', ['text'])},
  substr(text, 1, ${BEGINNING_CHARS}) AS beginning FROM context_items`;

export function readItem(
  reader: Reader,
  workspaceId: string,
  itemId: string,
): Promise<ContextItemRow | undefined> {
  return reader.firstSql<ContextItemRow>(
    `SELECT ${allColumns.context_items} FROM context_items WHERE workspace_id = ? AND item_id = ?`,
    [workspaceId, itemId],
  );
}

export function readItemBySource(
  reader: Reader,
  workspaceId: string,
  source: string,
  sourceRef: string,
): Promise<ContextItemRow | undefined> {
  const { engine } = reader;
  return reader.firstSql<ContextItemRow>(
    `SELECT ${allColumns.context_items} FROM context_items WHERE workspace_id = ? AND ${matchText(engine, 'source')}
       AND ${matchText(engine, 'source_ref')}`,
    [workspaceId, source, sourceRef],
  );
}

/** Reads the first characters of an item's text; empty when the item does not exist. */
export async function readTextBeginning(
  reader: Reader,
  workspaceId: string,
  itemId: string,
  charsMax: number,
): Promise<string> {
  const row = await reader.firstSql<{ text: string }>(
    `SELECT substr(text, 1, CAST(? AS INTEGER)) AS text FROM context_items
     WHERE workspace_id = ? AND item_id = ?`,
    [charsMax, workspaceId, itemId],
  );
  return row?.text ?? '';
}

/**
 * Newest first. One row more than `limit`, so that the caller sees whether there is a next page.
 */
export function listItemHeads(
  reader: Reader,
  filter: RequestInput<typeof endpoints.contextItems.list.request>,
  page: { limit: number; before: ItemPlace | null },
): Promise<ContextItemHead[]> {
  const conditions = ['workspace_id = ?'];
  const values: SqlValue[] = [filter.workspaceId];
  const narrow = (condition: string, ...more: SqlValue[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (!filter.includeSuperseded) narrow('superseded_by IS NULL');
  if (filter.kind !== undefined) narrow('kind = ?', filter.kind);
  if (filter.source !== undefined) narrow('source = ?', filter.source);
  if (filter.threadRef !== undefined) {
    narrow(matchText(reader.engine, 'thread_ref'), filter.threadRef);
  }
  if (page.before !== null) {
    narrow('(occurred_at, item_id) < (?, ?)', page.before.occurredAtMs, page.before.itemId);
  }
  return reader.allSql<ContextItemHead>(
    `${selectHead} WHERE ${conditions.join(' AND ')}
     ORDER BY occurred_at DESC, item_id DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}

/** Reads the items that exist among some ids, in no particular order. */
export function readItemHeads(
  reader: Reader,
  workspaceId: string,
  itemIds: readonly string[],
): Promise<ContextItemHead[]> {
  return reader.allSql<ContextItemHead>(
    `${selectHead} WHERE workspace_id = ? AND item_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(itemIds)],
  );
}

/** Filters ids by the kinds of their items, in the given order. */
export async function filterItemIdsByKind(
  reader: Reader,
  workspaceId: string,
  ids: readonly string[],
  kinds: readonly string[],
): Promise<string[]> {
  const rows = await reader.allSql<{ item_id: string }>(
    `SELECT item_id FROM context_items
     WHERE workspace_id = ? AND item_id IN (SELECT value FROM json_each(?))
       AND kind IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(ids), JSON.stringify(kinds)],
  );
  const found = new Set(rows.map((row) => row.item_id));
  return ids.filter((id) => found.has(id));
}

/** Lists the ids of items of some kinds that were created before a time, oldest first. */
export async function listOldItemIds(
  reader: Reader,
  workspaceId: string,
  age: { kinds: readonly string[]; beforeMs: number; limit: number },
): Promise<string[]> {
  const rows = await reader.allSql<{ item_id: string }>(
    `SELECT item_id FROM context_items
     WHERE workspace_id = ? AND created_at < ? AND kind IN (SELECT value FROM json_each(?))
     ORDER BY created_at LIMIT ?`,
    [workspaceId, age.beforeMs, JSON.stringify(age.kinds), age.limit],
  );
  return rows.map((row) => row.item_id);
}

/** The columns that the selection of a pack's items reads. Texts are copied within the database. */
const candidateColumns = [
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
] as const satisfies readonly (keyof ContextItemRow)[];

/** An item that may be selected for a pack. */
export type PackCandidate = Pick<ContextItemRow, (typeof candidateColumns)[number]>;

const selectCandidate = `SELECT ${candidateColumns.join(', ')} FROM context_items`;

/** Reads the items that exist among some ids, as a map by id. */
export async function readCandidates(
  reader: Reader,
  workspaceId: string,
  itemIds: readonly string[],
): Promise<Map<string, PackCandidate>> {
  if (itemIds.length === 0) return new Map();
  const rows = await reader.allSql<PackCandidate>(
    `${selectCandidate} WHERE workspace_id = ? AND item_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(itemIds)],
  );
  return new Map(rows.map((row) => [row.item_id, row]));
}

/** Lists pinned current items, newest first. */
export function listPinned(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<PackCandidate[]> {
  return reader.allSql<PackCandidate>(
    `${selectCandidate} WHERE workspace_id = ? AND pinned = 1 AND superseded_by IS NULL
     ORDER BY occurred_at DESC, item_id DESC LIMIT ?`,
    [workspaceId, limit],
  );
}

/** Lists current items, newest first. */
export function listRecent(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<PackCandidate[]> {
  return reader.allSql<PackCandidate>(
    `${selectCandidate} WHERE workspace_id = ? AND superseded_by IS NULL
     ORDER BY occurred_at DESC, item_id DESC LIMIT ?`,
    [workspaceId, limit],
  );
}
