import type { Reader } from '../db/engine.ts';
import type { Finding } from './finding.ts';

/** Longer than any transaction of a hub but a migration. */
export const TRANSACTION_MS_MAX = 5 * 60_000;

/**
 * Selects what keeps PostgreSQL from removing old rows: the oldest transaction that is open or
 * prepared, or a replication slot that nothing reads. Of sessions of other users, a user without
 * `pg_read_all_stats` does not see the transaction.
 */
const SELECT_OLDEST = `SELECT what, seconds, remedy FROM (
    SELECT 'Session ' || pid || concat(' (', concat_ws(', ', usename, NULLIF(application_name, ''), state),
        ') has a transaction that') AS what,
      EXTRACT(EPOCH FROM clock_timestamp() - xact_start) AS seconds,
      'SELECT pg_terminate_backend(' || pid || ')' AS remedy
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    UNION ALL
    SELECT 'The prepared transaction ' || quote_literal(gid),
      EXTRACT(EPOCH FROM clock_timestamp() - prepared),
      'ROLLBACK PREPARED ' || quote_literal(gid)
    FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL
    SELECT 'The unused replication slot ' || quote_literal(slot_name), NULL,
      'SELECT pg_drop_replication_slot(' || quote_literal(slot_name) || ')'
    FROM pg_replication_slots WHERE xmin IS NOT NULL AND NOT active
  ) AS held WHERE seconds IS NULL OR seconds >= ? ORDER BY seconds DESC NULLS LAST LIMIT 1`;

/** @param openMsMax how long a transaction may be open. */
export async function checkTransactions(
  reader: Reader,
  openMsMax: number,
): Promise<Omit<Finding, 'name'>> {
  const oldest = await reader.firstSql<{ what: string; seconds: number | null; remedy: string }>(
    SELECT_OLDEST,
    [Math.ceil(openMsMax / 1_000)],
  );
  if (oldest === undefined) {
    return { state: 'ok', message: `none open for ${openMsMax / 60_000} minutes` };
  }
  const { what, seconds, remedy } = oldest;
  const since = seconds === null ? 'is kept' : `has been open for ${Math.round(seconds)} s`;
  return {
    state: 'warning',
    message:
      `${what} ${since}: PostgreSQL removes no row that has changed since, so the database grows ` +
      `and gets slower. End it (${remedy}), and take dumps from a standby.`,
  };
}
