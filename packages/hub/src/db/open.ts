import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Database } from './engine.ts';
import { isMigrated, migrate } from './migrate.ts';
import type { PostgresDatabase } from './postgres/postgres-database.ts';
import type { SessionLimits } from './postgres/postgres-session.ts';

/**
 * A connection is had, a statement done, a lock taken within these times, or the request is
 * refused with 503; a transaction that its hub has forgotten ends by itself.
 */
const limits: SessionLimits = {
  connectMs: 3_000,
  statementMs: 15_000,
  lockMs: 5_000,
  idleInTransactionMs: 10_000,
};

/**
 * Opens the database that the settings name. The other engine is not even loaded.
 *
 * @param path of the SQLite file, used when no URL is set.
 * @param clock of `Tx.nowMs` on SQLite; on PostgreSQL that is the database's own clock, but for
 *   tests that turn it by hand.
 * @throws StartError
 */
export async function openDatabase(config: Config, path: string, clock: Clock): Promise<Database> {
  if (config.databaseUrl === null) {
    const { openSqlite } = await import('./sqlite/sqlite-database.ts');
    return openSqlite(path, clock);
  }
  return openPostgresOf(config, config.databaseUrl, clock);
}

async function openPostgresOf(
  { databaseSessions, databasePooled }: Config,
  url: string,
  clock: Clock,
): Promise<PostgresDatabase> {
  const { openPostgres } = await import('./postgres/postgres-database.ts');
  const { checkServer } = await import('./postgres/postgres-server.ts');
  const database = openPostgres({
    url,
    sessionsMax: databaseSessions,
    isPooled: databasePooled,
    limits,
    clock: clock === systemClock ? null : clock.nowMs,
  });
  try {
    database.warnings = await checkServer(database, url);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Brings the schema of an opened database up to date. On PostgreSQL that may take as long as it
 * takes, on a connection without the limits of requests: a migration works on whole tables, and
 * hubs that start together wait for the one that does it.
 *
 * @returns the versions applied.
 * @throws NewerDatabaseError
 */
export async function migrateDatabase(config: Config, database: Database): Promise<number[]> {
  if (config.databaseUrl === null || (await isMigrated(database))) return migrate(database);
  const { openPostgres } = await import('./postgres/postgres-database.ts');
  const unlimited = openPostgres({
    url: config.databaseUrl,
    sessionsMax: 2,
    isPooled: config.databasePooled,
    limits,
  });
  unlimited.beginWith({ statement_timeout: 0, lock_timeout: 0 });
  try {
    return await migrate(unlimited);
  } finally {
    await unlimited.close();
  }
}
