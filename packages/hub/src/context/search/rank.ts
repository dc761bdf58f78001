/*
 * Okapi BM25 as in FTS5 (sqlite.org/fts5.html#the_bm25_function), for both engines: a word's score
 * in an item falls with the number of items that have the word and with the item's length. The
 * index stores in which fields a word occurs, but not how often.
 */

/** How often an occurrence in the title counts, compared to one in the text. */
export const TITLE_WEIGHT = 4;

const K1 = 1.2;
const B = 0.75;
/** A word that more than half of the items have still gets a small weight. */
const IDF_MIN = 1e-6;

/** The number of items, and the number of words in all of them. */
export interface Corpus {
  items: number;
  terms: number;
}

/** Returns the weight of a word that `having` items have, before the length normalization. */
export function weightOf({ items }: Corpus, having: number): number {
  return Math.max(Math.log((items - having + 0.5) / (having + 0.5)), IDF_MIN) * (K1 + 1);
}

/**
 * Returns the parts of the length normalization. A word of an item scores
 * `weight * frequency / (frequency + base + perTerm * terms)`; `terms` is the item's length.
 */
export function lengthNormOf({ items, terms }: Corpus): { base: number; perTerm: number } {
  return { base: K1 * (1 - B), perTerm: (K1 * B * items) / Math.max(terms, 1) };
}
