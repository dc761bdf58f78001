import { createRequire } from 'node:module';
import type { Kysely } from 'kysely';
import type { Schema } from './schema/tables.ts';

const require = createRequire(import.meta.url);
const loadKysely = (): typeof import('kysely') => require('kysely');

let sqlite: Kysely<Schema> | null = null;
let postgres: Kysely<Schema> | null = null;

/*
 * Kyselys that only compile: the engines run their queries within their own transactions. Loaded on
 * first use, because Kysely has 250 files and no start builds a query.
 */

export function sqliteQueries(): Kysely<Schema> {
  if (sqlite !== null) return sqlite;
  const { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } =
    loadKysely();
  sqlite = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return sqlite;
}

export function postgresQueries(): Kysely<Schema> {
  if (postgres !== null) return postgres;
  const { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } =
    loadKysely();
  postgres = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return postgres;
}

const readPattern = /^\s*SELECT\b/i;

/** Whether a statement certainly writes nothing. Row locks do not count: a rollback ends them. */
export function isRead(sql: string): boolean {
  return readPattern.test(sql);
}
