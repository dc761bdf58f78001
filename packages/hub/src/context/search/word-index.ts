import type { Reader, Tx } from '../../db/engine.ts';
import { termsOf } from './terms.ts';

/** Only the first characters of a text are indexed. */
const INDEXED_CHARS_MAX = 1_000_000;
const INDEXED_TERMS_MAX = 200_000;

/** The words of a title or a text, as the index of an engine takes them. */
export interface SplitText {
  /** How many words it has, repetitions included. */
  count: number;
  /** Separated by spaces. */
  words: string;
}

export interface IndexedItem {
  workspaceId: string;
  itemId: string;
  title: SplitText;
  text: SplitText;
  isCurrent: boolean;
}

export interface SearchQuery {
  workspaceId: string;
  terms: readonly string[];
  includeSuperseded: boolean;
  /** How many ids are returned at most, best first. */
  limit: number;
}

/** A word of a query and how many items have it. The limit means that many or more. */
export interface TermCount {
  term: string;
  items: number;
}

/** An engine's index of the words of all items. */
export interface WordIndex {
  /** Splits a text into its words. Takes long for a long text. */
  split(text: string): SplitText;
  /** Indexes an item's words, replacing its earlier ones. */
  write(tx: Tx, item: IndexedItem): Promise<void>;
  delete(tx: Tx, workspaceId: string, itemId: string): Promise<void>;
  /** Starts a search. Null when the workspace has no indexed items. */
  open(reader: Reader, query: SearchQuery): Promise<WordSearch | null>;
}

/** One search. Its lists return ids, best first, up to the query's limit. */
export interface WordSearch {
  /** Counts the items of each of the query's words, in their order, up to the limit. */
  countItems(limit: number): Promise<TermCount[]>;
  /** Lists items that have any of the words, ranked by BM25. */
  listRanked(words: readonly TermCount[]): Promise<string[]>;
  /** Lists items that have all or any of the words, latest written first. */
  listLatest(words: readonly TermCount[], match: 'all' | 'any'): Promise<string[]>;
}

/** Returns the words of a title or a text that are indexed. */
export function indexedTermsOf(text: string): string[] {
  return termsOf(text.slice(0, INDEXED_CHARS_MAX), INDEXED_TERMS_MAX);
}
