/*
 * The texts of statements on PostgreSQL: numbered placeholders, and merged statements, which do for
 * many rows of values at once what the original does for one.
 */

/** Statements whose numbered text is kept: more than the hub has. */
const NUMBERED_MAX = 1_000;
const numbered = new Map<string, string>();

/** Replaces each `?` outside of literals by `$1`, `$2`, …; a text with `$1` is not changed. */
export function numberPlaceholders(text: string): string {
  const known = numbered.get(text);
  if (known !== undefined) return known;
  let count = 0;
  const replaced = text.replace(/'(?:[^']|'')*'|\?/g, (part) =>
    part === '?' ? `$${++count}` : part,
  );
  if (numbered.size < NUMBERED_MAX) numbered.set(text, replaced);
  return replaced;
}

/** The column of a merged answer that numbers the row of values that a row belongs to. */
export const ORDINAL = '~';

export interface MergedStatement {
  /** Takes an array for each parameter of the original statement. */
  text: string;
  /** Whether the answer has the column `ORDINAL`; if not, each row of values changes one row. */
  numbersRows: boolean;
}

const insertShape = /^\s*(INSERT INTO \w+\s*\([^)]*\))\s*VALUES\s*\((.*)\)\s*$/is;
const updateShape = /^\s*(UPDATE \w+ SET .*?)\s(WHERE .*)$/is;

/**
 * Makes an UPDATE fail unless it changes the expected number of rows: what is sent together with
 * COMMIT cannot be checked by the hub any more.
 *
 * @param text an UPDATE with RETURNING.
 * @param count an SQL expression.
 */
export function requireChanges(text: string, count: string): string {
  return `WITH changed AS (${text}) SELECT CASE WHEN COUNT(*) = ${count} THEN 1
    ELSE CAST(COUNT(*) || ' rows changed, not ' || ${count} AS integer) END FROM changed`;
}

/**
 * Merges a statement with itself for many rows of values; null when that is not possible, as for a
 * write that returns rows or has ON CONFLICT. What the statement returns for one row of values must
 * not depend on what it does for another.
 *
 * - A SELECT runs once for each row of values, within LATERAL.
 * - An INSERT inserts one row for each.
 * - An UPDATE joins the rows of values. Callers must ensure that no two of them name the same row.
 *
 * @param text with `$1`, `$2`, …
 * @param types the types of its parameters, such as `text` or `bigint`.
 */
export function mergeStatement(text: string, types: readonly string[]): MergedStatement | null {
  if (types.length === 0) return null;
  const names = types.map((_type, at) => `p${at + 1}`);
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`);
  const source = `unnest(${arrays.join(', ')}) WITH ORDINALITY AS v(${names.join(', ')}, "${ORDINAL}")`;
  const body = text.replace(/\$(\d+)/g, 'v.p$1');

  if (/^\s*SELECT\b/i.test(body)) {
    return {
      text: `SELECT v."${ORDINAL}", q.* FROM ${source} CROSS JOIN LATERAL (${body}) AS q`,
      numbersRows: true,
    };
  }
  if (/\b(ON CONFLICT|RETURNING)\b/i.test(body)) return null;
  const update = updateShape.exec(body);
  if (update !== null) {
    const [, set, where] = update;
    return { text: `${set} FROM ${source} ${where} RETURNING v."${ORDINAL}"`, numbersRows: true };
  }
  const insert = insertShape.exec(body);
  if (insert !== null) {
    return { text: `${insert[1]} SELECT ${insert[2]} FROM ${source}`, numbersRows: false };
  }
  return null;
}
