import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Database } from './engine.ts';
import type { SessionLimits } from './postgres-session.ts';

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
export async function openDatabase(
  { databaseUrl, databaseSessions, databasePooled }: Config,
  path: string,
  clock: Clock,
): Promise<Database> {
  if (databaseUrl === null) {
    const { openSqlite } = await import('./sqlite.ts');
    return openSqlite(path, clock);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({
    url: databaseUrl,
    sessionsMax: databaseSessions,
    isPooled: databasePooled,
    limits,
    clock: clock === systemClock ? null : clock.nowMs,
  });
}
