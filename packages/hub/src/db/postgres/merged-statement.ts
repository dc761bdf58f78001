import type { RowWrite, SqlValue } from '../engine.ts';
import { assign, piecesOf } from '../row-write.ts';

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
  const replaced = replacePlaceholders(text, (at) => `$${at + 1}`);
  if (numbered.size < NUMBERED_MAX) numbered.set(text, replaced);
  return replaced;
}

function replacePlaceholders(text: string, place: (at: number) => string): string {
  let at = 0;
  return text.replace(/'(?:[^']|'')*'|\?/g, (part) => (part === '?' ? place(at++) : part));
}

/** The column of a merged answer that numbers the row of values that a row belongs to. */
export const ORDINAL = '~';

export interface MergedStatement {
  text: string;
  /** An array for each column of values. */
  arrays: SqlValue[][];
}

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

/** Whether actions may wait for merged writes of this shape, whose answers tell the rows apart. */
export function isMergeable({ verb, returning }: RowWrite): boolean {
  return verb === 'update' && returning === undefined;
}

/** Merges SELECTs of one text: it runs once for each row of values, within LATERAL. */
export function mergeReads(
  text: string,
  rows: readonly (readonly SqlValue[])[],
): MergedStatement | null {
  const source = sourceOf(rows);
  if (source === null) return null;
  const body = text.replace(/\$(\d+)/g, (_all, number) => source.places[Number(number) - 1] ?? '');
  return {
    text: `SELECT v."${ORDINAL}", q.* FROM ${source.text} CROSS JOIN LATERAL (${body}) AS q`,
    arrays: source.arrays,
  };
}

/**
 * Merges mergeable writes of one text. What one changes must not depend on what another does, and
 * no two updates may choose the same row: callers have the keys for that.
 */
export function mergeWrites(
  write: RowWrite,
  rows: readonly (readonly SqlValue[])[],
): MergedStatement | null {
  const source = sourceOf(rows);
  if (source === null) return null;
  const { cells, conditions } = piecesOf(write);
  const columns = Object.keys(write.set);
  const isInsert = write.verb === 'insert';
  const body = isInsert
    ? `INSERT INTO ${write.table} (${columns.join(', ')}) SELECT ${cells.join(', ')}`
    : `UPDATE ${write.table} SET ${assign(columns, cells)}`;
  const end = isInsert ? '' : ` WHERE ${conditions.join(' AND ')} RETURNING v."${ORDINAL}"`;
  const mark = ' FROM values_of_rows';
  const text = replacePlaceholders(`${body}${mark}${end}`, (at) => source.places[at] ?? '');
  return {
    text: text.replace(mark, () => ` FROM ${source.text}`),
    arrays: source.arrays,
  };
}

/** Rows of values as a table `v`, and the expression for each value; null: none has a type. */
function sourceOf(
  rows: readonly (readonly SqlValue[])[],
): { text: string; places: string[]; arrays: SqlValue[][] } | null {
  const names: string[] = [];
  const types: string[] = [];
  const arrays: SqlValue[][] = [];
  const places = (rows[0] ?? []).map((_value, at) => {
    const values = rows.map((row) => row[at] ?? null);
    const type = typeOf(values);
    // NULL gets its type from where it stands, as a parameter does.
    if (type === null) return 'NULL';
    const name = `p${arrays.push(values)}`;
    names.push(name);
    types.push(`$${arrays.length}::${type}[]`);
    return `v.${name}`;
  });
  if (arrays.length === 0) return null;
  const columns = [...names, `"${ORDINAL}"`].join(', ');
  const text = `unnest(${types.join(', ')}) WITH ORDINALITY AS v(${columns})`;
  return { text, places, arrays };
}

/** The type that values have on PostgreSQL; null: all are null. */
function typeOf(values: readonly SqlValue[]): 'text' | 'bigint' | 'double precision' | null {
  let type: 'bigint' | 'double precision' | null = null;
  for (const value of values) {
    if (typeof value === 'string') return 'text';
    if (value === null) continue;
    type = Number.isInteger(value) && type !== 'double precision' ? 'bigint' : 'double precision';
  }
  return type;
}
