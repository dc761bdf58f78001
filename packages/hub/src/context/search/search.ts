import type { EngineName, Reader, Tx } from '../../db/engine.ts';
import { postgresWords } from './postgres-search.ts';
import { sqliteWords } from './sqlite-search.ts';
import type { IndexedItem, SearchQuery, WordIndex } from './word-index.ts';

/*
 * Full-text search of context items: what is looked for is the same on both engines, how it is
 * found is the engine's.
 */

/**
 * Ranking reads every posting of every word, so a search looks for this many at most, shared among
 * its words. What is too common for its share says little about any one item, and does not rank.
 */
const POSTINGS_MAX = 6_000;
const POSTINGS_PER_TERM_MIN = 500;
/** Of the telling words the rarest are enough to rank by. */
const RANKED_TERMS_MAX = 12;

const indexes: Readonly<Record<EngineName, WordIndex>> = {
  sqlite: sqliteWords,
  postgres: postgresWords,
};

/** Writes an item's words anew; in the transaction that writes the item. */
export function indexItem(tx: Tx, item: IndexedItem): Promise<void> {
  return indexes[tx.engine].write(tx, item);
}

export function unindexItem(tx: Tx, workspaceId: string, itemId: string): Promise<void> {
  return indexes[tx.engine].remove(tx, workspaceId, itemId);
}

/**
 * The ids of the items that match, best first: by bm25 over the words that tell items apart; when
 * all words are common ones, those items that have all of them and then those that have any,
 * latest written first.
 */
export async function searchItemIds(reader: Reader, query: SearchQuery): Promise<string[]> {
  if (query.terms.length === 0) return [];
  const search = await indexes[reader.engine].open(reader, query);
  if (search === null) return [];
  const common = Math.max(POSTINGS_PER_TERM_MIN, Math.floor(POSTINGS_MAX / query.terms.length));
  const found = (await search.countItems(common)).filter(({ items }) => items > 0);
  const telling = found.filter(({ items }) => items < common);
  if (telling.length > 0) {
    const rarest = telling.sort((a, b) => a.items - b.items).slice(0, RANKED_TERMS_MAX);
    return search.listRanked(rarest);
  }
  if (found.length === 0) return [];
  const both = [
    ...(await search.listLatest(found, 'all')),
    ...(await search.listLatest(found, 'any')),
  ];
  return [...new Set(both)].slice(0, query.limit);
}
