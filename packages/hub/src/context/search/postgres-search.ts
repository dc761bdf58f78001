import { assert } from '../../base/errors.ts';
import type { Reader, Tx } from '../../db/engine.ts';
import {
  ERA_ROWS,
  eraKey,
  eraOf,
  type KeyScope,
  keysOf,
  placeKey,
  places,
} from './postgres-keys.ts';
import { type Corpus, lengthNormOf, weightOf } from './rank.ts';
import { stemOf } from './stem.ts';
import {
  indexedTermsOf,
  type SearchQuery,
  type TermCount,
  type WordIndex,
  type WordSearch,
} from './word-index.ts';

/*
 * The word index on PostgreSQL: a GIN index over the keys of each item (see `postgres-keys.ts`).
 *
 * A GIN index returns which items have a key and nothing more, and it always reads all postings of
 * a key. So the data for ranking is in the keys themselves or in the item's row. Common words are
 * searched era by era, latest first, so that no search reads all postings of a common word.
 */

/** A common word fills a page from the latest eras. Rarer ones read growing steps of eras. */
const ERAS_AT_ONCE_MAX = 64;
const ERAS_AT_ONCE_GROWTH = 4;
/** How many eras are searched for all of some common words, which perhaps no item has. */
const ERAS_OF_ALL_MAX = 21;
/** Up to this many items, postings are counted without first sampling for common words. */
const COUNTED_ITEMS = 20_000;
/** The fewest items of a sample that give a usable estimate. */
const SAMPLED_MIN = 32;
/** A word counts as common when its estimate exceeds the limit by this factor. */
const SAMPLE_MARGIN = 2;

/** The workspace's row that all its searches need. */
interface WorkspaceWords extends Corpus {
  workspace_no: number;
  rows_written: number;
}
const WORDS = 'workspace_no, rows_written, items, terms';

export const postgresWords: WordIndex = {
  split(text) {
    const terms = indexedTermsOf(text);
    const stems = new Set(Array.from(new Set(terms), stemOf));
    return { count: terms.length, words: [...stems].join(' ') };
  },

  async write(tx, item) {
    const { workspaceId, itemId } = item;
    const terms = item.title.count + item.text.count;
    const known = await deleteRow(tx, workspaceId, itemId);
    const { rows } = await tx.runSql(
      `INSERT INTO context_search_workspaces AS w (workspace_id, rows_written, items, terms)
       VALUES (?, 1, 1, ?)
       ON CONFLICT (workspace_id) DO UPDATE SET rows_written = w.rows_written + 1,
         items = w.items + ?, terms = w.terms + ?
       RETURNING ${WORDS}`,
      [workspaceId, terms, known === undefined ? 1 : 0, terms - (known?.terms ?? 0)],
      { verb: 'insert', table: 'context_search_workspaces' },
    );
    const [words] = rows as WorkspaceWords[];
    assert(words !== undefined, 'an upsert that returns its row returns one');
    const keys = keysOf(item, words.workspace_no, words.rows_written);
    await tx.runSql(
      `INSERT INTO context_search (workspace_id, item_id, row_no, terms, keys)
       VALUES (?, ?, ?, ?, ?)`,
      [workspaceId, itemId, words.rows_written, terms, keys],
      { verb: 'insert', table: 'context_search' },
    );
  },

  async delete(tx, workspaceId, itemId) {
    const known = await deleteRow(tx, workspaceId, itemId);
    if (known === undefined) return;
    await tx.runSql(
      `UPDATE context_search_workspaces SET items = items - 1, terms = terms - ?
       WHERE workspace_id = ?`,
      [known.terms, workspaceId],
      { verb: 'update', table: 'context_search_workspaces' },
    );
  },

  async open(reader, query) {
    const words = await reader.firstSql<WorkspaceWords>(
      `SELECT ${WORDS} FROM context_search_workspaces WHERE workspace_id = ?`,
      [query.workspaceId],
    );
    return words === undefined ? null : new PostgresWordSearch(reader, query, words);
  },
};

async function deleteRow(
  tx: Tx,
  workspaceId: string,
  itemId: string,
): Promise<{ terms: number } | undefined> {
  const { rows } = await tx.runSql(
    'DELETE FROM context_search WHERE workspace_id = ? AND item_id = ? RETURNING terms',
    [workspaceId, itemId],
    { verb: 'delete', table: 'context_search' },
  );
  return (rows as { terms: number }[])[0];
}

class PostgresWordSearch implements WordSearch {
  readonly #reader: Reader;
  readonly #query: SearchQuery;
  readonly #words: WorkspaceWords;
  /** The searched items: the current ones and, if requested, the superseded ones. */
  readonly #scopes: readonly KeyScope[];

  constructor(reader: Reader, query: SearchQuery, words: WorkspaceWords) {
    this.#reader = reader;
    this.#query = query;
    this.#words = words;
    const workspaceNo = words.workspace_no;
    const kinds = query.includeSuperseded ? [true, false] : [true];
    this.#scopes = kinds.map((isCurrent) => ({ workspaceNo, isCurrent }));
  }

  async countItems(limit: number): Promise<TermCount[]> {
    const { terms } = this.#query;
    const areCommon = await this.#findCommon(limit);
    const rarer = terms.filter((_term, at) => areCommon[at] !== true);
    const counted = await this.#countMatches(
      rarer.map((term) => {
        const stem = stemOf(term);
        return this.#scopes.flatMap((scope) =>
          places.map(({ place }) => placeKey(scope, place, stem)),
        );
      }),
      limit,
    );
    const counts = new Map(rarer.map((term, at) => [term, counted[at] ?? 0]));
    return terms.map((term) => ({ term, items: counts.get(term) ?? limit }));
  }

  async listRanked(words: readonly TermCount[]): Promise<string[]> {
    const { workspaceId, limit } = this.#query;
    const { base, perTerm } = lengthNormOf(this.#words);
    const keys = words.flatMap(({ term, items }) => {
      const weight = weightOf(this.#words, items);
      return this.#scopes.flatMap((scope) =>
        places.map(({ place, frequency }) => ({
          key: placeKey(scope, place, stemOf(term)),
          weight: weight * frequency,
          frequency,
        })),
      );
    });
    const rows = await this.#reader.allSql<{ item_id: string }>(
      `SELECT found.item_id
       FROM jsonb_to_recordset(?::jsonb) AS k(key text, weight float8, frequency float8)
       CROSS JOIN LATERAL ${rowsWith('@> ARRAY[k.key]')} found
       WHERE found.workspace_id = ?
       GROUP BY found.item_id, found.row_no
       ORDER BY SUM(k.weight / (k.frequency + ?::float8 + ?::float8 * found.terms))::float4 DESC,
         found.row_no DESC LIMIT ?`,
      [JSON.stringify(keys), workspaceId, base, perTerm, limit],
    );
    return rows.map((row) => row.item_id);
  }

  async listLatest(words: readonly TermCount[], match: 'all' | 'any'): Promise<string[]> {
    const { workspaceId, limit } = this.#query;
    const stems = words.map(({ term }) => stemOf(term));
    const found: string[] = [];
    const lastEra = eraOf(this.#words.rows_written);
    const firstEra = match === 'all' ? Math.max(lastEra - ERAS_OF_ALL_MAX + 1, 0) : 0;
    let erasAtOnce = 1;
    for (let era = lastEra; era >= firstEra && found.length < limit; ) {
      const eras = Math.min(erasAtOnce, era - firstEra + 1);
      const sets = Array.from({ length: eras }, (_none, back) =>
        this.#scopes.map((scope) => ({
          keys: stems.map((stem) => eraKey(scope, era - back, stem)).join(' '),
        })),
      ).flat();
      const rows = await this.#reader.allSql<{ item_id: string }>(
        `SELECT found.item_id FROM jsonb_to_recordset(?::jsonb) AS k(keys text)
         CROSS JOIN LATERAL (
           SELECT m.item_id, m.row_no
           FROM ${rowsWith(`${match === 'all' ? '@>' : '&&'} string_to_array(k.keys, ' ')`)} m
           WHERE m.workspace_id = ? ORDER BY m.row_no DESC LIMIT ?) found
         ORDER BY found.row_no DESC LIMIT ?`,
        [JSON.stringify(sets), workspaceId, limit, limit - found.length],
      );
      found.push(...rows.map((row) => row.item_id));
      era -= eras;
      erasAtOnce = Math.min(erasAtOnce * ERAS_AT_ONCE_GROWTH, ERAS_AT_ONCE_MAX);
    }
    return found;
  }

  /**
   * Estimates which words are common, from their share of the last complete era. Counting the
   * postings of a common word directly would read all of them.
   */
  async #findCommon(limit: number): Promise<boolean[]> {
    const { items, rows_written } = this.#words;
    if (items <= COUNTED_ITEMS) return [];
    const era = eraOf(rows_written) - 1;
    const enough = Math.ceil((SAMPLE_MARGIN * limit * ERA_ROWS) / items);
    const needed = Math.max(enough, SAMPLED_MIN);
    const sets = this.#query.terms.map((term) => {
      const stem = stemOf(term);
      return this.#scopes.map((scope) => eraKey(scope, era, stem));
    });
    return (await this.#countMatches(sets, needed)).map((found) => found >= needed);
  }

  /** Counts, for each set, the items that have any of its keys; counting stops at the limit. */
  async #countMatches(sets: readonly string[][], limit: number): Promise<number[]> {
    const rows = await this.#reader.allSql<{ items: number }>(
      `SELECT found.items
       FROM ROWS FROM (jsonb_array_elements_text(?::jsonb)) WITH ORDINALITY AS k(keys, at)
       CROSS JOIN LATERAL (SELECT COUNT(*) AS items FROM (
         SELECT 1 FROM ${rowsWith("&& string_to_array(k.keys, ' ')")} m
         WHERE m.workspace_id = ? LIMIT ?) matches) found
       ORDER BY k.at`,
      [JSON.stringify(sets.map((keys) => keys.join(' '))), this.#query.workspaceId, limit],
    );
    return rows.map((row) => row.items);
  }
}

/**
 * Selects rows by their keys alone. OFFSET 0 keeps the planner from filtering by the workspace
 * first, which it does when it underestimates the workspace's items.
 */
function rowsWith(condition: string): string {
  return `(SELECT s.item_id, s.workspace_id, s.row_no, s.terms FROM context_search s
    WHERE context_search_keys(s.keys) ${condition} OFFSET 0)`;
}
