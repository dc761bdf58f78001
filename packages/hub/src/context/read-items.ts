import type { ContextItemKind, ContextItemSummary } from '@signalbox/contract';
import type { Database, Reader } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import { presentSummary } from './present.ts';
import { excerptAround } from './search/excerpt.ts';
import { searchItemIds } from './search/search.ts';
import { termsOf } from './search/terms.ts';
import { type ItemRow, readItem, readItemHeads } from './store.ts';

/** A search shows this many of the best matches, on as many pages; further ones are no use. */
export const MATCHES_MAX = 1_000;
/** Words of a query; a longer text is searched for by its beginning. */
const QUERY_TERMS_MAX = 32;
/** Of each match shown, the part that is looked through for the place of the match. */
const SCANNED_CHARS = 100_000;

/** @throws HubError CONTEXT_ITEM_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireItem(
  reader: Reader,
  workspaceId: string,
  itemId: string,
): Promise<ItemRow> {
  const row = await readItem(reader, workspaceId, itemId);
  if (row === undefined) throw new HubError('CONTEXT_ITEM_NOT_FOUND');
  return row;
}

export interface ItemSearch {
  workspaceId: string;
  query: string;
  kinds?: readonly ContextItemKind[] | undefined;
  includeSuperseded: boolean;
}

/** A page of matches, best first. `hasMore` when there is a next page. */
export async function searchItems(
  { reader }: Pick<Database, 'reader'>,
  search: ItemSearch,
  page: { offset: number; limit: number },
): Promise<{ items: ContextItemSummary[]; hasMore: boolean }> {
  const { workspaceId, query, kinds, includeSuperseded } = search;
  const terms = [...new Set(termsOf(query, QUERY_TERMS_MAX))];
  const ids = await searchItemIds(reader, {
    workspaceId,
    terms,
    includeSuperseded,
    limit: MATCHES_MAX,
  });
  const wanted = kinds === undefined ? ids : await keepKinds(reader, workspaceId, ids, kinds);
  const shown = wanted.slice(page.offset, page.offset + page.limit);
  const heads = new Map(
    (await readItemHeads(reader, workspaceId, shown)).map((head) => [head.item_id, head]),
  );
  const items: ContextItemSummary[] = [];
  for (const id of shown) {
    const head = heads.get(id);
    if (head === undefined) continue;
    const text = await readScannedText(reader, workspaceId, id);
    items.push(presentSummary(head, excerptAround(text, terms)));
  }
  return { items, hasMore: wanted.length > page.offset + page.limit };
}

async function keepKinds(
  reader: Reader,
  workspaceId: string,
  ids: readonly string[],
  kinds: readonly ContextItemKind[],
): Promise<string[]> {
  const rows = await reader.allSql<{ item_id: string }>(
    `SELECT item_id FROM context_items
     WHERE workspace_id = ? AND item_id IN (SELECT value FROM json_each(?))
       AND kind IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(ids), JSON.stringify(kinds)],
  );
  const kept = new Set(rows.map((row) => row.item_id));
  return ids.filter((id) => kept.has(id));
}

async function readScannedText(
  reader: Reader,
  workspaceId: string,
  itemId: string,
): Promise<string> {
  const row = await reader.firstSql<{ text: string }>(
    `SELECT substr(text, 1, ${SCANNED_CHARS}) AS text FROM context_items
     WHERE workspace_id = ? AND item_id = ?`,
    [workspaceId, itemId],
  );
  return row?.text ?? '';
}
