/*
 * Okapi BM25 as FTS5 has it (sqlite.org/fts5.html#the_bm25_function), for both engines: what a word
 * is worth in an item falls with how many items have it and with how long the item is. How often
 * it stands in a field is not kept; in which fields it stands is.
 */

/** How much a title is worth more than a text. */
export const TITLE_WEIGHT = 4;

const K1 = 1.2;
const B = 0.75;
/** A word that half of all items have is still worth something. */
const IDF_MIN = 1e-6;

/** How many items there are, and how many words they have together. */
export interface Corpus {
  items: number;
  terms: number;
}

/** What a word is worth that so many items have, before `roomOf` is brought in. */
export function worthOf({ items }: Corpus, having: number): number {
  return Math.max(Math.log((items - having + 0.5) / (having + 0.5)), IDF_MIN) * (K1 + 1);
}

/**
 * A word of an item scores `worth * frequency / (frequency + base + perTerm * terms)`, where
 * `terms` are the words that the item has.
 */
export function roomOf({ items, terms }: Corpus): { base: number; perTerm: number } {
  return { base: K1 * (1 - B), perTerm: (K1 * B * items) / Math.max(terms, 1) };
}
