import type { SqlValue } from './engine.ts';

/** Joins the conditions of a list that have a value; a filter that is not set has none. */
export function conditions(
  all: readonly (readonly [condition: string, value: SqlValue | undefined])[],
): { sql: string; values: SqlValue[] } {
  const given = all.filter((each): each is [string, string | number] => each[1] != null);
  return {
    sql: given.map(([condition]) => condition).join(' AND '),
    values: given.map(([, value]) => value),
  };
}
