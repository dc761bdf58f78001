import { assert } from '../base/errors.ts';
import type { RowWrite, SqlValue, Tx } from './engine.ts';
import type { Schema } from './schema/tables.ts';

/*
 * Writes of one table, as data. The engines make their texts, and the live stream reads from them
 * what has changed. Everything that is more than columns and values is SQL (`Tx.runSql`).
 */

type Table = keyof Schema;

export async function insertRow<Name extends Table>(
  tx: Tx,
  table: Name,
  row: Schema[Name],
): Promise<void> {
  await tx.write(insertOf(table, row));
}

/** Inserts a row without waiting for it, as `Tx.send` does. */
export function sendInsert<Name extends Table>(tx: Tx, table: Name, row: Schema[Name]): void {
  tx.sendRow(insertOf(table, row));
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
  row: Schema[Name],
  unless: readonly (keyof Schema[Name] & string)[],
): Promise<boolean> {
  const { changes } = await tx.write(insertOf(table, row, unless));
  return changes > 0;
}

/**
 * Updates the rows whose columns have the given values; null is a value.
 *
 * @returns how many there were.
 */
export async function updateRows<Name extends Table>(
  tx: Tx,
  table: Name,
  where: Partial<Schema[Name]>,
  set: Partial<Schema[Name]>,
): Promise<number> {
  return (await tx.write(updateOf(table, where, set))).changes;
}

/** Updates one row without waiting for it, as `Tx.send` does. */
export function sendUpdate<Name extends Table>(
  tx: Tx,
  table: Name,
  where: Partial<Schema[Name]>,
  set: Partial<Schema[Name]>,
): void {
  tx.sendRow(updateOf(table, where, set));
}

/** Deletes the rows whose columns have the given values. @returns how many there were. */
export async function deleteRows<Name extends Table>(
  tx: Tx,
  table: Name,
  where: Partial<Schema[Name]>,
): Promise<number> {
  const write = { verb: 'delete', table, set: {}, where: conditionsOf(where), unless: [] } as const;
  return (await tx.write(write)).changes;
}

function insertOf(table: Table, row: object, unless: readonly string[] = []): RowWrite {
  return { verb: 'insert', table, set: columnsOf(row), where: {}, unless };
}

function updateOf(table: Table, where: object, set: object): RowWrite {
  return { verb: 'update', table, set: columnsOf(set), where: conditionsOf(where), unless: [] };
}

/** A condition that is undefined would choose more rows than it should. */
function conditionsOf(where: object): Record<string, SqlValue> {
  const columns = columnsOf(where);
  assert(
    Object.keys(columns).length === Object.keys(where).length,
    'each condition of a write has a value',
  );
  return columns;
}

/** Columns that are undefined are not written; all others have values that a statement binds. */
function columnsOf(row: object): Record<string, SqlValue> {
  const columns = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(columns as [string, SqlValue][]);
}

/** The text of a write, in the SQL that both engines share, and the values that it binds. */
export function toStatement({ verb, table, set, where, unless }: RowWrite): {
  sql: string;
  values: SqlValue[];
} {
  const columns = Object.keys(set);
  const values = Object.values(set);
  if (verb === 'insert') {
    const places = columns.map(() => '?').join(', ');
    const end = unless.length === 0 ? '' : ` ON CONFLICT (${unless.join(', ')}) DO NOTHING`;
    return {
      sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})${end}`,
      values,
    };
  }
  const conditions = Object.entries(where).map(([column, value]) => {
    if (value === null) return `${column} IS NULL`;
    values.push(value);
    return `${column} = ?`;
  });
  const head =
    verb === 'delete'
      ? `DELETE FROM ${table}`
      : `UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join(', ')}`;
  return { sql: `${head} WHERE ${conditions.join(' AND ')}`, values };
}
