import { type Schema, tables } from './tables.ts';

/**
 * The columns of each table as statements name them. A statement that reads `*` would get other
 * rows when a newer version adds a column, and PostgreSQL would refuse it in the sessions that have
 * prepared it.
 */
export const allColumns = Object.fromEntries(
  Object.entries(tables).map(([name, { columns }]) => [name, Object.keys(columns).join(', ')]),
  // `fromEntries` forgets the names.
) as Record<keyof Schema, string>;

/** The same, as the columns of an alias of the table. */
export function columnsOf(alias: string, table: keyof Schema): string {
  return allColumns[table].replaceAll(/\w+/g, `${alias}.$&`);
}

/** All columns of a table but some, such as its long ones. */
export function columnsWithout<Table extends keyof typeof allColumns>(
  table: Table,
  left: readonly (keyof Schema[Table])[],
): string {
  const names: readonly PropertyKey[] = left;
  return allColumns[table]
    .split(/,\s*/)
    .filter((name) => !names.includes(name))
    .join(', ');
}
