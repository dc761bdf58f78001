import type { Reader, SqlValue, Tx } from '../db/engine.ts';
import type { ContextItemsTable } from '../db/schema/context.ts';

export type ItemRow = ContextItemsTable;

/** An item without its text, of which only the beginning was read. */
export type ItemHead = Omit<ItemRow, 'text'> & { beginning: string };

/** Where a list goes on: behind this item. */
export interface ItemPlace {
  occurredAtMs: number;
  itemId: string;
}

export interface ItemFilter {
  kind?: string | undefined;
  source?: string | undefined;
  threadRef?: string | undefined;
  includeSuperseded: boolean;
}

/** More than any excerpt shows. */
const BEGINNING_CHARS = 1_000;

const headColumns = [
  'workspace_id',
  'item_id',
  'kind',
  'title',
  'source',
  'source_ref',
  'thread_ref',
  'trust',
  'pinned',
  'truncated',
  'content_hash',
  'tokens',
  'occurred_at',
  'superseded_by',
  'valid_from',
  'valid_to',
  'created_by',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ItemRow)[];
const columns = [...headColumns, 'text'] as const;
const selectHead = `SELECT ${headColumns.join(', ')}, substr(text, 1, ${BEGINNING_CHARS}) AS beginning
  FROM context_items`;

export function readItem(
  reader: Reader,
  workspaceId: string,
  itemId: string,
): Promise<ItemRow | undefined> {
  return reader.firstSql<ItemRow>(
    'SELECT * FROM context_items WHERE workspace_id = ? AND item_id = ?',
    [workspaceId, itemId],
  );
}

export function readItemBySource(
  reader: Reader,
  workspaceId: string,
  source: string,
  sourceRef: string,
): Promise<ItemRow | undefined> {
  return reader.firstSql<ItemRow>(
    `SELECT * FROM context_items WHERE workspace_id = ? AND source = ? AND source_ref = ?`,
    [workspaceId, source, sourceRef],
  );
}

/** Writes an item whole, new or over what there was. */
export async function writeItem(tx: Tx, row: ItemRow): Promise<void> {
  const set = columns
    .filter((name) => name !== 'workspace_id' && name !== 'item_id')
    .map((name) => `${name} = excluded.${name}`);
  await tx.runSql(
    `INSERT INTO context_items (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
     ON CONFLICT (workspace_id, item_id) DO UPDATE SET ${set.join(', ')}`,
    columns.map((name) => row[name]),
  );
}

export async function deleteItem(tx: Tx, workspaceId: string, itemId: string): Promise<void> {
  await tx.runSql('DELETE FROM context_items WHERE workspace_id = ? AND item_id = ?', [
    workspaceId,
    itemId,
  ]);
}

/** Newest first; one more than `limit`, so that the caller sees whether there is a next page. */
export function listItemHeads(
  reader: Reader,
  workspaceId: string,
  filter: ItemFilter,
  page: { limit: number; before: ItemPlace | null },
): Promise<ItemHead[]> {
  const conditions = ['workspace_id = ?'];
  const values: SqlValue[] = [workspaceId];
  const narrow = (condition: string, ...more: SqlValue[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (!filter.includeSuperseded) narrow('superseded_by IS NULL');
  if (filter.kind !== undefined) narrow('kind = ?', filter.kind);
  if (filter.source !== undefined) narrow('source = ?', filter.source);
  if (filter.threadRef !== undefined) narrow('thread_ref = ?', filter.threadRef);
  if (page.before !== null) {
    narrow('(occurred_at, item_id) < (?, ?)', page.before.occurredAtMs, page.before.itemId);
  }
  return reader.allSql<ItemHead>(
    `${selectHead} WHERE ${conditions.join(' AND ')}
     ORDER BY occurred_at DESC, item_id DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}

/** Those of the ids that exist, in no order. */
export function readItemHeads(
  reader: Reader,
  workspaceId: string,
  itemIds: readonly string[],
): Promise<ItemHead[]> {
  return reader.allSql<ItemHead>(
    `${selectHead} WHERE workspace_id = ? AND item_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(itemIds)],
  );
}

/** Ids of items that came from outside and were last written before a time; oldest first. */
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
