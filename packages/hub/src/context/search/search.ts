import type { EngineName, Reader, Tx } from '../../db/engine.ts';
import { postgresWords } from './postgres-search.ts';
import { sqliteWords } from './sqlite-search.ts';
import type { IndexedItem, SearchQuery, SplitText, WordIndex } from './word-index.ts';

/*
 * Full-text search of context items. The query is the same on both engines; each engine has its own
 * index.
 */

/**
 * Ranking reads every posting of every word, so a search has a limit of postings, shared equally
 * among its words. A word with more postings than its share says little about an item and is not
 * used for ranking.
 */
const POSTINGS_MAX = 6_000;
const POSTINGS_PER_TERM_MIN = 500;
/** Only the rarest of the significant words are used for ranking. */
const RANKED_TERMS_MAX = 12;

const indexes: Readonly<Record<EngineName, WordIndex>> = {
  sqlite: sqliteWords,
  postgres: postgresWords,
};

/** Splits a title or a text into the words that `indexItem` takes. */
export function splitText(engine: EngineName, text: string): SplitText {
  return indexes[engine].split(text);
}

/** Indexes an item's words, replacing its earlier ones, in the transaction that writes the item. */
export function indexItem(tx: Tx, item: IndexedItem): Promise<void> {
  return indexes[tx.engine].write(tx, item);
}

export function unindexItem(tx: Tx, workspaceId: string, itemId: string): Promise<void> {
  return indexes[tx.engine].delete(tx, workspaceId, itemId);
}

/**
 * Returns the ids of matching items, best first: ranked by BM25 over the significant words. When
 * all words are common, first the items that have all of them and then those that have any, latest
 * written first.
 */
export async function searchItemIds(reader: Reader, query: SearchQuery): Promise<string[]> {
  if (query.terms.length === 0) return [];
  const search = await indexes[reader.engine].open(reader, query);
  if (search === null) return [];
  const common = Math.max(POSTINGS_PER_TERM_MIN, Math.floor(POSTINGS_MAX / query.terms.length));
  const found = (await search.countItems(common)).filter(({ items }) => items > 0);
  const significant = found.filter(({ items }) => items < common);
  if (significant.length > 0) {
    const rarest = significant.sort((a, b) => a.items - b.items).slice(0, RANKED_TERMS_MAX);
    return search.listRanked(rarest);
  }
  if (found.length === 0) return [];
  const both = [
    ...(await search.listLatest(found, 'all')),
    ...(await search.listLatest(found, 'any')),
  ];
  return [...new Set(both)].slice(0, query.limit);
}
