/*
 * The texts of statements on PostgreSQL: placeholders, and the set-wise version of a statement that
 * does for many rows of values at once what it does for one.
 */

/** `?` becomes `$1`, `$2`, … outside of literals; a text that has `$1` already stays as it is. */
export function numberPlaceholders(text: string): string {
  let count = 0;
  return text.replace(/'(?:[^']|'')*'|\?/g, (part) => (part === '?' ? `$${++count}` : part));
}

/** The column of a set-wise answer that says which of the rows of values a row belongs to. */
export const ORDINAL = '~';

export interface MergedStatement {
  /** Takes an array for each parameter of the single statement. */
  text: string;
  /** Whether answer rows carry `ORDINAL`; without it, each row of values changes one row. */
  numbersRows: boolean;
}

const insertShape = /^\s*(INSERT INTO \w+\s*\([^)]*\))\s*VALUES\s*\((.*)\)\s*$/is;
const insertSelectShape = /^\s*(INSERT INTO \w+\s*\([^)]*\))\s*(SELECT\b.*)$/is;
const updateShape = /^\s*UPDATE (\w+) (SET .*?)\s(WHERE .*?)(?:\sRETURNING (.*))?$/is;

/**
 * The set-wise version of a statement, or null when it has none: what it returns for one row of
 * values must not depend on what it does for another.
 *
 * - A SELECT runs once for each row of values, within LATERAL.
 * - An INSERT inserts as many rows; after ON CONFLICT or RETURNING nobody can tell whose is whose.
 * - An UPDATE joins the rows of values; callers see to it that no two of them are for the same row.
 *
 * @param text with `$1`, `$2`, …
 * @param types of its parameters, such as `text` or `bigint`.
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
  if (/\bON CONFLICT\b/i.test(body)) return null;
  const update = updateShape.exec(body);
  if (update !== null) {
    const [, table, set, where, returning] = update;
    const columns = returning === '*' ? `${table}.*` : returning;
    const returned = columns === undefined ? '' : `, ${columns}`;
    return {
      text: `UPDATE ${table} ${set} FROM ${source} ${where} RETURNING v."${ORDINAL}"${returned}`,
      numbersRows: true,
    };
  }
  if (/\bRETURNING\b/i.test(body)) return null;
  const insert = insertShape.exec(body);
  if (insert !== null) {
    return { text: `${insert[1]} SELECT ${insert[2]} FROM ${source}`, numbersRows: false };
  }
  const insertSelect = insertSelectShape.exec(body);
  if (insertSelect !== null) {
    const [, into, select] = insertSelect;
    return {
      text: `${into} SELECT q.* FROM ${source} CROSS JOIN LATERAL (${select}) AS q`,
      numbersRows: false,
    };
  }
  return null;
}
