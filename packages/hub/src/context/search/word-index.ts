import type { Reader, Tx } from '../../db/engine.ts';
import { termsOf } from './terms.ts';

/** What is said after a million characters of a title and text is not found by its words. */
const INDEXED_CHARS_MAX = 1_000_000;
const INDEXED_TERMS_MAX = 200_000;

export interface IndexedItem {
  workspaceId: string;
  itemId: string;
  title: string;
  text: string;
  isCurrent: boolean;
}

export interface SearchQuery {
  workspaceId: string;
  terms: readonly string[];
  includeSuperseded: boolean;
  /** Candidates, best first. */
  limit: number;
}

/** A word of a query, and how many items have it; as many or more where that is the limit. */
export interface TermCount {
  term: string;
  items: number;
}

/** The words of all items, as an engine keeps them. */
export interface WordIndex {
  /** Writes an item's words anew; in the transaction that writes the item. */
  write(tx: Tx, item: IndexedItem): Promise<void>;
  remove(tx: Tx, workspaceId: string, itemId: string): Promise<void>;
  /** null where the workspace has no words at all. */
  open(reader: Reader, query: SearchQuery): Promise<WordSearch | null>;
}

/** A query under way: ids come best first, at most as many as it wants. */
export interface WordSearch {
  /** Of each of the query's words, in their order; counting ends at the limit. */
  countItems(limit: number): Promise<TermCount[]>;
  /** Items that have any of the words, by bm25. */
  listRanked(words: readonly TermCount[]): Promise<string[]>;
  /** Items that have all or any of the words, latest written first. */
  listLatest(words: readonly TermCount[], match: 'all' | 'any'): Promise<string[]>;
}

/** The words of a title or a text that are kept. */
export function indexedTermsOf(text: string): string[] {
  return termsOf(text.slice(0, INDEXED_CHARS_MAX), INDEXED_TERMS_MAX);
}
