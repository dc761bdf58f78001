import type { KeptRead, Reader } from './engine.ts';

/**
 * Reads as `allSql` does. On SQLite, the rows may come from memory, where they stay until one of
 * the statement's sources is written; on PostgreSQL, from a read at the start of the transaction.
 * They are shared, so their callers never change them.
 */
export function allKept<Row extends object>(
  reader: Reader,
  read: KeptRead,
  values: readonly string[],
): Promise<readonly Readonly<Row>[]> {
  return reader.kept === null
    ? reader.allSql<Row>(read.sql, values)
    : reader.kept.all<Row>(read, values);
}

/** Reads the first row as `allKept` does. */
export async function firstKept<Row extends object>(
  reader: Reader,
  read: KeptRead,
  values: readonly string[],
): Promise<Readonly<Row> | undefined> {
  if (reader.kept === null) return reader.firstSql<Row>(read.sql, values);
  const [row] = await reader.kept.all<Row>(read, values);
  return row;
}

/**
 * Whether memory tells that a statement has no row. False on PostgreSQL, where the answer might
 * cost a round trip.
 */
export async function isKnownEmpty(
  reader: Reader,
  read: KeptRead,
  values: readonly string[],
): Promise<boolean> {
  if (reader.engine === 'postgres' || reader.kept === null) return false;
  return (await reader.kept.all(read, values)).length === 0;
}
