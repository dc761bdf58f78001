import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  type BorrowedDatabase,
  borrowTestDatabase,
  createTestDatabase,
} from '@signalbox/local-postgres';
import pg from 'pg';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Database, EngineName } from '../../src/db/engine.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import { makeTempDir } from './temp-dir.ts';

/** Several hubs at once in several files share one server and its limit of connections. */
const sessionsMax = 6;

/** The engine of all hubs of this process: SQLite, unless SIGNALBOX_TEST_ENGINE names another. */
export const testEngine = readEngine(process.env.SIGNALBOX_TEST_ENGINE ?? 'sqlite');

function readEngine(name: string): EngineName {
  if (name === 'sqlite' || name === 'postgres') return name;
  throw new Error(`SIGNALBOX_TEST_ENGINE is "${name}": it takes sqlite or postgres.`);
}

type DatabaseConfig = Pick<Config, 'databaseUrl' | 'databaseSessions'>;

/** The database that hubs on one data directory share. */
interface SharedDatabase {
  database: Promise<BorrowedDatabase>;
  users: number;
}

const shared = new Map<string, SharedDatabase>();

/**
 * The settings of a hub's database. Hubs on the same data directory have the same database, as
 * they have on SQLite by itself.
 *
 * @param isNew On PostgreSQL, a new database instead of one that an earlier test has used: for
 *   tests of query plans and table sizes.
 * @returns `release`, to call when the hub has ended; the last call frees the database.
 */
export async function takeDatabase(
  dataDir: string,
  isNew = false,
): Promise<{ config: DatabaseConfig; release(): Promise<void> }> {
  if (testEngine === 'sqlite') {
    if (!isNew) await copyMigratedFile(dataDir);
    return {
      config: { databaseUrl: null, databaseSessions: sessionsMax },
      release: async () => {},
    };
  }
  let entry = shared.get(dataDir);
  if (entry === undefined) {
    entry = { database: isNew ? createNew() : borrowTestDatabase(template), users: 0 };
    shared.set(dataDir, entry);
  }
  const { database } = entry;
  entry.users += 1;
  const { url } = await database;
  return {
    config: { databaseUrl: url, databaseSessions: sessionsMax },
    async release() {
      entry.users -= 1;
      if (entry.users > 0) return;
      shared.delete(dataDir);
      await (await database).giveBack();
    },
  };
}

let migratedFile: Promise<Buffer> | undefined;

/**
 * Gives a data directory without a database the one that the migrations make: they take 16 ms, the
 * copy takes one.
 */
async function copyMigratedFile(dataDir: string): Promise<void> {
  const path = join(dataDir, 'signalbox.db');
  if (!existsSync(dataDir) || existsSync(path)) return;
  migratedFile ??= makeMigratedFile();
  writeFileSync(path, await migratedFile, { mode: 0o600 });
}

async function makeMigratedFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-template-'));
  try {
    const path = join(folder, 'signalbox.db');
    const database = await openDatabase(readConfig({}), path, systemClock);
    await migrate(database);
    await database.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function createNew(): Promise<BorrowedDatabase> {
  const { url, drop } = await createTestDatabase(template);
  return { url, giveBack: drop };
}

/**
 * A migrated database without a hub.
 *
 * @returns `end`, which closes and frees it.
 */
export async function openDatabaseOf(
  dataDir: string,
  clock: Clock,
): Promise<{ database: Database; end(): Promise<void> }> {
  const { config, release } = await takeDatabase(dataDir);
  const path = join(dataDir, 'signalbox.db');
  const database = await openDatabase({ ...readConfig({}), ...config }, path, clock);
  await migrate(database);
  return {
    database,
    async end() {
      await database.close();
      await release();
    },
  };
}

/** The same, ended with the test. */
export async function openTestDatabase(t: TestContext, clock: Clock): Promise<Database> {
  const { database, end } = await openDatabaseOf(makeTempDir(t), clock);
  t.after(end);
  return database;
}

/**
 * All data that the hubs on a data directory store, to search for forbidden content: its files,
 * and on PostgreSQL every row of the database.
 */
export async function readKept(dataDir: string): Promise<Buffer> {
  const files = readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(dataDir, name)));
  const database = await shared.get(dataDir)?.database;
  if (database === undefined) return Buffer.concat(files);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      files.push(...rows.map(({ row }) => Buffer.from(row)));
    }
  } finally {
    await client.end();
  }
  return Buffer.concat(files);
}

/** The database of the hubs on a data directory, for what no hub shows. On PostgreSQL. */
export async function databaseUrlOf(dataDir: string): Promise<string> {
  const database = await shared.get(dataDir)?.database;
  if (database === undefined) throw new Error(`no hub runs on ${dataDir}`);
  return database.url;
}

export const template = {
  fingerprint: JSON.stringify([
    readFileSync(join(import.meta.dirname, '../../src/db/migrate.ts'), 'utf8'),
    migrations.map(({ statements }) => statements('postgres')),
  ]),
  async prepare(databaseUrl: string): Promise<void> {
    const config = { ...readConfig({}), databaseUrl };
    const database = await openDatabase(config, '', systemClock);
    try {
      await migrate(database);
    } finally {
      await database.close();
    }
  },
};
