import type { Reader, Tx } from '../db/engine.ts';
import { termsOf } from './search-terms.ts';

/*
 * Full-text search on SQLite: all that knows of FTS5 is in this file.
 *
 * Words are made here, not by FTS5: letters and digits only, each behind a mark of its workspace
 * and of whether its item is current. So a search reads the postings of its own workspace alone,
 * however many there are, and no text that a person types can be syntax of the query language.
 */

/** What is said after a million characters of a title and text is not found by its words. */
const INDEXED_CHARS_MAX = 1_000_000;
const INDEXED_TERMS_MAX = 200_000;

/**
 * Ranking reads every posting of every word, so a search looks for this many at most, shared among
 * its words. What is too common for its share says little about any one item, and does not rank.
 */
const POSTINGS_MAX = 6_000;
const POSTINGS_PER_TERM_MIN = 500;
/** Of the telling words the rarest are enough to rank by. */
const RANKED_TERMS_MAX = 12;
/** A match in the title is worth four in the text. */
const RANK = 'bm25(4.0, 1.0)';

interface IndexedItem {
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

/** Writes an item's words anew; in the transaction that writes the item. */
export async function indexItem(tx: Tx, item: IndexedItem): Promise<void> {
  const { workspaceId, itemId } = item;
  await unindexItem(tx, workspaceId, itemId);
  const added = await tx.firstSql<{ row_id: number }>(
    'INSERT INTO context_search_rows (workspace_id, item_id) VALUES (?, ?) RETURNING row_id',
    [workspaceId, itemId],
  );
  if (added === undefined) throw new Error('an insert returned no row');
  const mark = markOf(workspaceId, item.isCurrent);
  await tx.runSql('INSERT INTO context_search (rowid, title, text) VALUES (?, ?, ?)', [
    added.row_id,
    wordsOf(item.title, mark),
    wordsOf(item.text, mark),
  ]);
}

export async function unindexItem(tx: Tx, workspaceId: string, itemId: string): Promise<void> {
  const known = await tx.firstSql<{ row_id: number }>(
    `DELETE FROM context_search_rows WHERE workspace_id = ? AND item_id = ? RETURNING row_id`,
    [workspaceId, itemId],
  );
  if (known === undefined) return;
  await tx.runSql('DELETE FROM context_search WHERE rowid = ?', [known.row_id]);
}

/**
 * The ids of the items that match, best first: by bm25 over the words that tell items apart; when
 * all words are common ones, those items that have all of them and then those that have any,
 * latest written first.
 */
export async function searchItemIds(reader: Reader, query: SearchQuery): Promise<string[]> {
  const words = query.terms.map((term) => wordQuery(query, term));
  const common = Math.max(POSTINGS_PER_TERM_MIN, Math.floor(POSTINGS_MAX / words.length));
  const counts: { word: string; items: number }[] = [];
  for (const word of words) counts.push({ word, items: await countMatches(reader, word, common) });
  const found = counts.filter(({ items }) => items > 0);
  const telling = found.filter(({ items }) => items < common);
  if (telling.length > 0) {
    const rarest = telling.sort((a, b) => a.items - b.items).slice(0, RANKED_TERMS_MAX);
    return listRanked(reader, query, rarest.map(({ word }) => word).join(' OR '));
  }
  if (found.length === 0) return [];
  const both = [
    ...(await listLatest(reader, query, found.map(({ word }) => word).join(' AND '))),
    ...(await listLatest(reader, query, found.map(({ word }) => word).join(' OR '))),
  ];
  return [...new Set(both)].slice(0, query.limit);
}

/** How many items have a word; `limit` when they are as many, or more. */
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

function wordsOf(text: string, mark: string): string {
  return termsOf(text.slice(0, INDEXED_CHARS_MAX), INDEXED_TERMS_MAX)
    .map((term) => mark + term)
    .join(' ');
}
