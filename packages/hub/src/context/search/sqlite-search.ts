import { assert } from '../../base/errors.ts';
import type { Reader, Tx } from '../../db/engine.ts';
import { type Corpus, lengthNormOf, TITLE_WEIGHT, weightOf } from './rank.ts';
import {
  type IndexedItem,
  indexedTermsOf,
  type SearchQuery,
  type SplitText,
  type TermCount,
  type WordIndex,
  type WordSearch,
} from './word-index.ts';

/*
 * The word index on SQLite. Only this file uses FTS5.
 *
 * Words are split here, not by FTS5: letters and digits only, each prefixed with a mark of its
 * workspace and of whether its item is current. So a search reads the postings of its own workspace
 * only, and no text that a person types can be syntax of the query language.
 */

/** The fields, and the frequency that an occurrence in each counts as. */
const fields = [
  { field: 'title', frequency: TITLE_WEIGHT },
  { field: 'text', frequency: 1 },
];

interface IndexRow {
  row_id: number;
}

export const sqliteWords: WordIndex = {
  split(text) {
    const terms = indexedTermsOf(text);
    return { count: terms.length, words: terms.join(' ') };
  },

  async write(tx, item) {
    const { workspaceId, itemId } = item;
    await deleteWords(tx, workspaceId, itemId);
    const { rows } = await tx.runSql(
      'INSERT INTO context_search_rows (workspace_id, item_id) VALUES (?, ?) RETURNING row_id',
      [workspaceId, itemId],
      { verb: 'insert', table: 'context_search_rows' },
    );
    const [added] = rows as IndexRow[];
    assert(added !== undefined, 'an insert that returns its row returns one');
    await tx.runSql(
      'INSERT INTO context_search (rowid, title, text) VALUES (?, ?, ?)',
      [added.row_id, wordsOf(item, item.title), wordsOf(item, item.text)],
      { verb: 'insert', table: 'context_search' },
    );
  },
  delete: deleteWords,
  open: async (reader, query) => openSearch(reader, query),
};

async function deleteWords(tx: Tx, workspaceId: string, itemId: string): Promise<void> {
  const { rows } = await tx.runSql(
    `DELETE FROM context_search_rows WHERE workspace_id = ? AND item_id = ? RETURNING row_id`,
    [workspaceId, itemId],
    { verb: 'delete', table: 'context_search_rows' },
  );
  const [known] = rows as IndexRow[];
  if (known === undefined) return;
  await tx.runSql('DELETE FROM context_search WHERE rowid = ?', [known.row_id], {
    verb: 'delete',
    table: 'context_search',
  });
}

function openSearch(reader: Reader, query: SearchQuery): WordSearch {
  const join = (words: readonly TermCount[], operator: 'AND' | 'OR') =>
    words.map(({ term }) => wordQuery(query, term)).join(` ${operator} `);
  return {
    async countItems(limit) {
      const counts: TermCount[] = [];
      for (const term of query.terms) {
        counts.push({ term, items: await countMatches(reader, wordQuery(query, term), limit) });
      }
      return counts;
    },
    listRanked: (words) => listRanked(reader, query, words),
    listLatest: (words, match) =>
      listLatest(reader, query, join(words, match === 'all' ? 'AND' : 'OR')),
  };
}

async function countMatches(reader: Reader, match: string, limit: number): Promise<number> {
  const row = await reader.firstSql<{ items: number }>(
    `SELECT COUNT(*) AS items FROM
       (SELECT 1 FROM context_search WHERE context_search MATCH ? LIMIT ?)`,
    [match, limit],
  );
  return row?.items ?? 0;
}

/**
 * Ranks by BM25. The bm25 function of FTS5 cannot be used: with an index that stores neither text
 * nor positions, it scores all matches equally. So the words are looked up field by field, and the
 * lengths are read from the index's own tables (sqlite.org/fts5.html, section 9).
 */
async function listRanked(
  reader: Reader,
  query: SearchQuery,
  words: readonly TermCount[],
): Promise<string[]> {
  const corpus = await readCorpus(reader);
  const matches = [];
  for (const { term, items } of words) {
    const frequencies = await readFrequencies(reader, wordQuery(query, term));
    matches.push({ weight: weightOf(corpus, items), frequencies });
  }
  const found = new Set(matches.flatMap(({ frequencies }) => [...frequencies.keys()]));
  const lengths = await readLengths(reader, [...found]);
  const { base, perTerm } = lengthNormOf(corpus);
  const scores = new Map<number, number>();
  for (const { weight, frequencies } of matches) {
    for (const [rowId, frequency] of frequencies) {
      const lengthNorm = base + perTerm * (lengths.get(rowId) ?? 0);
      const score = (weight * frequency) / (frequency + lengthNorm);
      scores.set(rowId, (scores.get(rowId) ?? 0) + score);
    }
  }
  const best = [...scores].sort(([rowA, a], [rowB, b]) => b - a || rowB - rowA);
  return readItemIds(
    reader,
    query.workspaceId,
    best.slice(0, query.limit).map(([rowId]) => rowId),
  );
}

async function readFrequencies(reader: Reader, match: string): Promise<Map<number, number>> {
  const frequencies = new Map<number, number>();
  for (const { field, frequency } of fields) {
    const rows = await reader.allSql<{ row_id: number }>(
      'SELECT rowid AS row_id FROM context_search WHERE context_search MATCH ?',
      [`{${field}} : ${match}`],
    );
    for (const { row_id } of rows) {
      frequencies.set(row_id, (frequencies.get(row_id) ?? 0) + frequency);
    }
  }
  return frequencies;
}

/** Reads the totals of the index, which cover all workspaces. */
async function readCorpus(reader: Reader): Promise<Corpus> {
  const row = await reader.firstSql<{ block: Uint8Array }>(
    'SELECT block FROM context_search_data WHERE id = 1',
    [],
  );
  const [items = 0, ...terms] = readNumbers(row?.block ?? new Uint8Array());
  return { items, terms: sumOf(terms) };
}

async function readLengths(reader: Reader, rowIds: readonly number[]) {
  const rows = await reader.allSql<{ row_id: number; sz: Uint8Array }>(
    `SELECT d.id AS row_id, d.sz FROM json_each(?) k
     JOIN context_search_docsize d ON d.id = k.value`,
    [JSON.stringify(rowIds)],
  );
  return new Map(rows.map(({ row_id, sz }) => [row_id, sumOf(readNumbers(sz))]));
}

/** Returns the item ids of rows, in the same order. */
async function readItemIds(
  reader: Reader,
  workspaceId: string,
  rowIds: readonly number[],
): Promise<string[]> {
  const rows = await reader.allSql<{ row_id: number; item_id: string }>(
    `SELECT r.row_id, r.item_id FROM json_each(?) k
     JOIN context_search_rows r ON r.row_id = k.value WHERE r.workspace_id = ?`,
    [JSON.stringify(rowIds), workspaceId],
  );
  const itemIds = new Map(rows.map(({ row_id, item_id }) => [row_id, item_id]));
  return rowIds.flatMap((rowId) => itemIds.get(rowId) ?? []);
}

/** Decodes a sequence of SQLite's varints (sqlite.org/fileformat2.html#varint). */
function readNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of bytes) {
    number = number * 128 + (byte & 0x7f);
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0;
  }
  return numbers;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

async function listLatest(reader: Reader, query: SearchQuery, match: string): Promise<string[]> {
  const rows = await reader.allSql<{ item_id: string }>(
    `SELECT r.item_id FROM (
       SELECT rowid AS row_id FROM context_search
       WHERE context_search MATCH ? ORDER BY rowid DESC LIMIT ?) f
     JOIN context_search_rows r ON r.row_id = f.row_id
     WHERE r.workspace_id = ? ORDER BY f.row_id DESC`,
    [match, query.limit, query.workspaceId],
  );
  return rows.map((row) => row.item_id);
}

/** Terms are letters and digits only, so FTS5 always reads a quoted term as one word. */
function wordQuery({ workspaceId, includeSuperseded }: SearchQuery, term: string): string {
  const current = `"${markOf(workspaceId, true)}${term}"`;
  return includeSuperseded
    ? `(${current} OR "${markOf(workspaceId, false)}${term}")`
    : `(${current})`;
}

const LONG_ID_CHARS = 35;

/**
 * Returns the prefix of a workspace's words: digits and a consonant, which the stemmer does not
 * change. Two workspaces may share a mark by chance, so every statement checks the workspace too.
 */
function markOf(workspaceId: string, isCurrent: boolean): string {
  // Ids of earlier versions are longer, and hexadecimal.
  const number =
    workspaceId.length < LONG_ID_CHARS
      ? Number.parseInt(workspaceId.slice(-6), 32)
      : Number.parseInt(workspaceId.slice(-8), 16);
  return `${Number.isNaN(number) ? 0 : number}${isCurrent ? 'q' : 'x'}`;
}

function wordsOf({ workspaceId, isCurrent }: IndexedItem, { words }: SplitText): string {
  const mark = markOf(workspaceId, isCurrent);
  return words === '' ? '' : mark + words.replaceAll(' ', ` ${mark}`);
}
