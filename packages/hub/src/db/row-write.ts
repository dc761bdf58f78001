import { assert } from '../base/errors.ts';
import type { RowWrite, SqlPart, SqlValue, Tx, WriteValue } from './engine.ts';
import type { Schema } from './schema/tables.ts';

/*
 * Writes of one table, as data. The engines make their texts, and the live stream and the rows that
 * stay in memory take from them what has changed. What a value or a condition cannot express is
 * part of the data, as SQL (`sql`).
 */

type Table = keyof Schema;
type Row<Name extends Table> = {
  readonly [Column in keyof Schema[Name]]: Cell<Schema[Name][Column]>;
};
type Cell<Value> = Value | SqlPart;
type Column<Name extends Table> = keyof Schema[Name] & string;

/**
 * Chooses the rows whose columns have the given values; null is a value, and a list allows any
 * of its values.
 */
type Where<Name extends Table> = {
  readonly [Column in keyof Schema[Name]]?: Schema[Name][Column] | readonly string[];
} & {
  /** A further condition. */
  readonly also?: SqlPart;
};

/** The ids that the live stream announces, where the columns do not have them. */
type About = RowWrite['about'];

/** A part of a statement, with a `?` for each value. */
export function sql(text: string, ...values: readonly SqlValue[]): SqlPart {
  return { text, values };
}

/** For a column: its value, and a number more. */
export function plus(column: string, more: number): SqlPart {
  return sql(`${column} + ?`, more);
}

/** Inserts a row without waiting for it, as `Tx.send` does. */
export function insertRow<Name extends Table>(
  tx: Tx,
  table: Name,
  row: Row<Name>,
  about?: About,
): void {
  tx.send({ ...insertOf(table, row), about });
}

/**
 * Inserts a row unless one has the same values in the columns of a unique index. Of concurrent
 * actions one inserts it; the others wait for that transaction.
 *
 * @returns whether the row was inserted.
 */
export async function insertNewRow<Name extends Table>(
  tx: Tx,
  table: Name,
  row: Row<Name>,
  unless: readonly Column<Name>[],
): Promise<boolean> {
  const conflict = { columns: unless, set: {} };
  return (await tx.write({ ...insertOf(table, row), conflict })).changes > 0;
}

/**
 * Inserts a row, or updates the one that has the same values in the columns of a unique index.
 *
 * @param set what is updated. Default: all other columns.
 */
export async function upsertRow<Name extends Table>(
  tx: Tx,
  table: Name,
  row: Row<Name>,
  key: readonly Column<Name>[],
  set?: Partial<Row<Name>>,
): Promise<void> {
  const others = Object.keys(row).filter((column) => !(key as readonly string[]).includes(column));
  const replaced = others.map((column) => [column, sql(`excluded.${column}`)]);
  const conflict = { columns: key, set: columnsOf(set ?? Object.fromEntries(replaced)) };
  await tx.write({ ...insertOf(table, row), conflict });
}

/**
 * Updates the rows that a condition chooses.
 *
 * @returns how many there were.
 */
export async function updateRows<Name extends Table>(
  tx: Tx,
  table: Name,
  where: Where<Name>,
  set: Partial<Row<Name>>,
): Promise<number> {
  return (await tx.write(updateOf(table, where, set))).changes;
}

/** Updates one row without waiting for it, as `Tx.send` does. */
export function sendUpdate<Name extends Table>(
  tx: Tx,
  table: Name,
  where: Where<Name>,
  set: Partial<Row<Name>>,
  about?: About,
): void {
  tx.send({ ...updateOf(table, where, set), about });
}

/** Deletes the rows that a condition chooses. @returns how many there were. */
export async function deleteRows<Name extends Table>(
  tx: Tx,
  table: Name,
  where: Where<Name>,
  about?: About,
): Promise<number> {
  return (await tx.write({ ...deleteOf(table, where), about })).changes;
}

/** Writes as the functions above do. @returns the rows, with their columns of a list. */
export async function writeReturning<Read>(
  tx: Tx,
  write: RowWrite,
  columns: string,
): Promise<Read[]> {
  // The author of the list vouches for the type of the rows, as with `allSql`.
  return (await tx.write({ ...write, returning: columns })).rows as Read[];
}

export function insertOf<Name extends Table>(table: Name, row: Row<Name>): RowWrite {
  return { verb: 'insert', table, set: columnsOf(row), where: {} };
}

export function updateOf<Name extends Table>(
  table: Name,
  where: Where<Name>,
  set: Partial<Row<Name>>,
): RowWrite {
  return { verb: 'update', table, set: columnsOf(set), ...conditionsOf(where) };
}

export function deleteOf<Name extends Table>(table: Name, where: Where<Name>): RowWrite {
  return { verb: 'delete', table, set: {}, ...conditionsOf(where) };
}

/** A condition that is undefined would choose more rows than it should. */
function conditionsOf({ also, ...columns }: { also?: SqlPart }): Pick<RowWrite, 'where' | 'also'> {
  const where = columns as RowWrite['where'];
  const given = Object.values(where);
  assert(!given.includes(undefined as never), 'each condition of a write has a value');
  assert(given.length > 0 || also !== undefined, 'a write chooses its rows');
  return { where, also };
}

/** Columns that are undefined are not written; all others have values that a statement binds. */
function columnsOf(row: object): Record<string, WriteValue> {
  const columns = row as Record<string, WriteValue>;
  // Most rows are whole, and no one changes a row that was written: they need no copy.
  if (!Object.values(row).includes(undefined)) return columns;
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** The pieces of the text of a write, and the values of their placeholders in this order. */
interface WritePieces {
  /** The expressions for the columns of `set`. */
  cells: string[];
  conditions: string[];
  /** ON CONFLICT and RETURNING. */
  end: string;
  values: SqlValue[];
}

export function piecesOf({ set, where, also, conflict, returning }: RowWrite): WritePieces {
  const values: SqlValue[] = [];
  const cellOf = (value: WriteValue): string => {
    if (!isPart(value)) {
      values.push(value);
      return '?';
    }
    values.push(...value.values);
    return value.text;
  };
  const cells = Object.values(set).map(cellOf);
  const conditions = Object.entries(where).map(([column, value]) => {
    if (value === null) return `${column} IS NULL`;
    values.push(typeof value === 'object' ? JSON.stringify(value) : value);
    return typeof value === 'object'
      ? `${column} IN (SELECT value FROM json_each(?))`
      : `${column} = ?`;
  });
  if (also !== undefined) {
    values.push(...also.values);
    conditions.push(`(${also.text})`);
  }
  let end = '';
  if (conflict !== undefined) {
    const updates = Object.entries(conflict.set).map(
      ([name, value]) => `${name} = ${cellOf(value)}`,
    );
    const action = updates.length === 0 ? 'NOTHING' : `UPDATE SET ${updates.join(', ')}`;
    end += ` ON CONFLICT (${conflict.columns.join(', ')}) DO ${action}`;
  }
  if (returning !== undefined) end += ` RETURNING ${returning}`;
  return { cells, conditions, end, values };
}

function isPart(value: WriteValue): value is SqlPart {
  return typeof value === 'object' && value !== null;
}

/** The text of a write, in the SQL that both engines share, and the values that it binds. */
export function toStatement(write: RowWrite): { text: string; values: SqlValue[] } {
  const { verb, table, set } = write;
  const { cells, conditions, end, values } = piecesOf(write);
  const columns = Object.keys(set);
  const where = ` WHERE ${conditions.join(' AND ')}`;
  switch (verb) {
    case 'insert':
      return {
        text: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${cells.join(', ')})${end}`,
        values,
      };
    case 'update':
      return { text: `UPDATE ${table} SET ${assign(columns, cells)}${where}${end}`, values };
    case 'delete':
      return { text: `DELETE FROM ${table}${where}${end}`, values };
  }
}

/** The assignments of an UPDATE. */
export function assign(columns: readonly string[], cells: readonly string[]): string {
  return columns.map((column, at) => `${column} = ${cells[at]}`).join(', ');
}
