import type { ContextItemSummary, endpoints, RequestInput } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Database, Reader } from '../db/engine.ts';
import { presentSummary } from './present.ts';
import { excerptAround } from './search/excerpt.ts';
import { searchItemIds } from './search/search.ts';
import { termsOf } from './search/terms.ts';
import {
  type ContextItemRow,
  filterItemIdsByKind,
  readItem,
  readItemHeads,
  readTextBeginning,
} from './store.ts';

/** How many of the best matches a search returns over all its pages. */
export const MATCHES_MAX = 1_000;
/** How many words of a query are used; the rest of a longer text is ignored. */
const QUERY_TERMS_MAX = 32;
/** How much of each match is read to find the place for its excerpt. */
const SCANNED_CHARS = 100_000;

/** @throws HubError CONTEXT_ITEM_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireItem(
  reader: Reader,
  workspaceId: string,
  itemId: string,
): Promise<ContextItemRow> {
  const row = await readItem(reader, workspaceId, itemId);
  if (row === undefined) throw new HubError('CONTEXT_ITEM_NOT_FOUND');
  return row;
}

/** Returns a page of matches, best first, and whether there is a next page. */
export async function searchItems(
  { reader }: Pick<Database, 'reader'>,
  search: RequestInput<typeof endpoints.contextItems.search.request>,
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
  const matches =
    kinds === undefined ? ids : await filterItemIdsByKind(reader, workspaceId, ids, kinds);
  const shown = matches.slice(page.offset, page.offset + page.limit);
  const heads = new Map(
    (await readItemHeads(reader, workspaceId, shown)).map((head) => [head.item_id, head]),
  );
  const items: ContextItemSummary[] = [];
  for (const id of shown) {
    const head = heads.get(id);
    if (head === undefined) continue;
    const text = await readTextBeginning(reader, workspaceId, id, SCANNED_CHARS);
    items.push(presentSummary(head, excerptAround(text, terms)));
  }
  return { items, hasMore: matches.length > page.offset + page.limit };
}
