import { type Clock, systemClock } from '../base/clock.ts';
import { SideThread } from '../base/side-thread.ts';
import type { Config } from '../start/config.ts';
import type { Database } from './engine.ts';
import { type MigrationProgress, migrate, noProgress, readSchemaState } from './migrate.ts';
import { type Migration, migrations } from './migrations/index.ts';
import type { ServerWait } from './postgres/postgres-database.ts';
import type { SqliteOptions } from './sqlite/sqlite-database.ts';

/**
 * A request gets 503 when a connection, a statement or a lock takes longer; the server ends a
 * transaction that its hub has left idle.
 */
const limits = {
  connectMs: 3_000,
  statementMs: 15_000,
  lockMs: 5_000,
  idleInTransactionMs: 10_000,
};

/** For a hub that has just reached the server and starts on a busy machine. */
const MIGRATION_CONNECT_MS = 30_000;

export interface OpenOptions {
  /** Options that only SQLite has. */
  sqlite?: SqliteOptions;
  /** How long to wait for PostgreSQL; absent: as long as a request. */
  wait?: ServerWait;
}

/**
 * Opens the database that the settings name. The code of the other engine is not loaded.
 *
 * @param path of the SQLite file, used when no URL is set.
 * @param clock of `Tx.nowMs` on SQLite. On PostgreSQL that is the database's own clock, except in
 *   tests that set the clock by hand.
 * @throws StartError
 */
export async function openDatabase(
  config: Config,
  path: string,
  clock: Clock,
  { sqlite = {}, wait }: OpenOptions = {},
): Promise<Database> {
  if (config.databaseUrl === null) {
    const { openSqlite } = await import('./sqlite/sqlite-database.ts');
    return openSqlite(path, clock, sqlite);
  }
  const { openPostgres } = await import('./postgres/postgres-database.ts');
  const database = openPostgres({
    url: config.databaseUrl,
    sessionsMax: config.databaseSessions,
    isPooled: config.databasePooled,
    limits,
    clock: clock === systemClock ? null : clock.nowMs,
  });
  try {
    await database.checkServer(wait);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Opens the database for a hub, and brings its schema up to date. Meanwhile the event loop answers
 * requests: on SQLite, rows are migrated in another thread.
 *
 * @throws StartError, SchemaVersionError
 */
export async function openMigrated(
  config: Config,
  path: string,
  clock: Clock,
  options: OpenOptions & { migrations: readonly Migration[]; progress: MigrationProgress },
): Promise<Database> {
  const { migrations: known, progress } = options;
  let database = await openDatabase(config, path, clock, options);
  try {
    const isFile = database.engine === 'sqlite';
    if (isFile && (await readSchemaState(database, known)) === 'old') {
      await database.close();
      await migrateFile(path, known, progress);
      database = await openDatabase(config, path, clock, options);
    }
    await migrateDatabase(config, database, known, progress);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function migrateFile(
  path: string,
  known: readonly Migration[],
  progress: MigrationProgress,
): Promise<void> {
  const { fileMigration } = await import('./migrate-file.ts');
  const texts = known.map((migration) => ({
    ...migration,
    statements: migration.statements('sqlite'),
  }));
  const thread = new SideThread(true);
  try {
    await thread.run('file', fileMigration, { path, migrations: texts, progress });
  } finally {
    await thread.close();
  }
}

/**
 * Brings the schema of an open database up to date. On PostgreSQL this uses a connection without
 * the time limits of requests: a migration works on whole tables, and hubs that start together wait
 * for the one that does it.
 *
 * @returns the versions applied.
 * @throws SchemaVersionError
 */
export async function migrateDatabase(
  config: Config,
  database: Database,
  known: readonly Migration[] = migrations,
  progress: MigrationProgress = noProgress(),
): Promise<number[]> {
  // A migration excludes every other action, so a hub with a current schema must not begin one.
  if ((await readSchemaState(database, known)) === 'current') return [];
  return withoutLimits(config, database, (unlimited) => migrate(unlimited, known, progress));
}

/** Works on whole tables: on PostgreSQL with a connection without the time limits of requests. */
export async function withoutLimits<T>(
  { databaseUrl, databasePooled }: Config,
  database: Database,
  work: (unlimited: Database) => Promise<T>,
): Promise<T> {
  if (databaseUrl === null) return work(database);
  const { explainRefusal, openPostgres } = await import('./postgres/postgres-database.ts');
  const unlimited = openPostgres({
    url: databaseUrl,
    sessionsMax: 2,
    isPooled: databasePooled,
    limits: { ...limits, connectMs: MIGRATION_CONNECT_MS, lockMs: 0 },
  });
  unlimited.beginWith({ statement_timeout: 0 });
  try {
    return await work(unlimited);
  } catch (error) {
    throw explainRefusal(error, databaseUrl);
  } finally {
    await unlimited.close();
  }
}
