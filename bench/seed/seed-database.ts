import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { HubStore } from '../subjects/hub.ts';

type Row = Readonly<Record<string, unknown>>;

/** A database of a stopped hub, opened to insert very many rows. */
export interface SeedDatabase {
  readonly engine: 'sqlite' | 'postgres';
  read(sql: string): Promise<Row[]>;
  run(sql: string): Promise<void>;
  /** Writes the log back and gathers statistics, as would have happened over time. */
  settle(tables: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export function openSeedDatabase(store: HubStore): Promise<SeedDatabase> {
  return store.databaseUrl === null ? openSqlite(store.dataDir) : openPostgres(store.databaseUrl);
}

async function openSqlite(dataDir: string): Promise<SeedDatabase> {
  const db = new DatabaseSync(join(dataDir, 'signalbox.db'));
  // Data lost in a crash is simply seeded again.
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; PRAGMA temp_store = MEMORY');
  return {
    engine: 'sqlite',
    async read(sql) {
      return db.prepare(sql).all();
    },
    async run(sql) {
      db.exec(sql);
    },
    async settle() {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA analysis_limit = 1000; ANALYZE');
    },
    async close() {
      db.close();
    },
  };
}

async function openPostgres(connectionString: string): Promise<SeedDatabase> {
  const client = new Client({ connectionString });
  await client.connect();
  await client.query("SET synchronous_commit = off; SET maintenance_work_mem = '512MB'");
  return {
    engine: 'postgres',
    async read(sql) {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    },
    async run(sql) {
      await client.query(sql);
    },
    async settle(tables) {
      for (const table of tables) await client.query(`VACUUM (ANALYZE) ${table}`);
      await client.query('CHECKPOINT');
    },
    async close() {
      await client.end();
    },
  };
}
