import type { Reader, Tx } from '../db/engine.ts';
import {
  type IndexedItem,
  indexedTermsOf,
  type SearchQuery,
  type TermCount,
  TITLE_WEIGHT,
  type WordIndex,
  type WordSearch,
} from './search-index.ts';

/*
 * The word index on SQLite: all that knows of FTS5 is in this file.
 *
 * Words are made here, not by FTS5: letters and digits only, each behind a mark of its workspace
 * and of whether its item is current. So a search reads the postings of its own workspace alone,
 * however many there are, and no text that a person types can be syntax of the query language.
 */

const RANK = `bm25(${TITLE_WEIGHT}.0, 1.0)`;

export const sqliteWords: WordIndex = {
  async write(tx, item) {
    const { workspaceId, itemId } = item;
    await removeWords(tx, workspaceId, itemId);
    const added = await tx.firstSql<{ row_id: number }>(
      'INSERT INTO context_search_rows (workspace_id, item_id) VALUES (?, ?) RETURNING row_id',
      [workspaceId, itemId],
    );
    if (added === undefined) throw new Error('an insert returned no row');
    await tx.runSql('INSERT INTO context_search (rowid, title, text) VALUES (?, ?, ?)', [
      added.row_id,
      wordsOf(item, item.title),
      wordsOf(item, item.text),
    ]);
  },
  remove: removeWords,
  open: async (reader, query) => openSearch(reader, query),
};

async function removeWords(tx: Tx, workspaceId: string, itemId: string): Promise<void> {
  const known = await tx.firstSql<{ row_id: number }>(
    `DELETE FROM context_search_rows WHERE workspace_id = ? AND item_id = ? RETURNING row_id`,
    [workspaceId, itemId],
  );
  if (known === undefined) return;
  await tx.runSql('DELETE FROM context_search WHERE rowid = ?', [known.row_id]);
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
    listRanked: (words) => listRanked(reader, query, join(words, 'OR')),
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

async function listRanked(reader: Reader, query: SearchQuery, match: string): Promise<string[]> {
  const rows = await reader.allSql<{ item_id: string }>(
    `SELECT r.item_id FROM (
       SELECT rowid AS row_id, rank AS score FROM context_search
       WHERE context_search MATCH ? AND rank MATCH '${RANK}' ORDER BY rank LIMIT ?) f
     JOIN context_search_rows r ON r.row_id = f.row_id
     WHERE r.workspace_id = ? ORDER BY f.score, f.row_id DESC`,
    [match, query.limit, query.workspaceId],
  );
  return rows.map((row) => row.item_id);
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

/** Terms are letters and digits only, so a quoted one is one word to FTS5 whatever it says. */
function wordQuery({ workspaceId, includeSuperseded }: SearchQuery, term: string): string {
  const current = `"${markOf(workspaceId, true)}${term}"`;
  return includeSuperseded ? `(${current} OR "${markOf(workspaceId, false)}${term}")` : current;
}

/**
 * Digits and a consonant, which the stemmer takes for the beginning of the word and leaves alone.
 * Two workspaces may share a mark by chance: every statement asks for the workspace as well.
 */
function markOf(workspaceId: string, isCurrent: boolean): string {
  const number = Number.parseInt(workspaceId.slice(-8), 16);
  return `${Number.isNaN(number) ? 0 : number}${isCurrent ? 'q' : 'x'}`;
}

function wordsOf({ workspaceId, isCurrent }: IndexedItem, text: string): string {
  const mark = markOf(workspaceId, isCurrent);
  return indexedTermsOf(text)
    .map((term) => mark + term)
    .join(' ');
}
