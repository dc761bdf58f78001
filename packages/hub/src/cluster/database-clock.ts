import { type Clock, systemClock } from '../base/clock.ts';
import type { Reader } from '../db/engine.ts';

/**
 * The database's time, independent of the time that is set on the hub's machine: a monotonic
 * counter, corrected whenever the database reports its time. Reading it makes no query.
 */
export interface DatabaseClock extends Clock {
  /**
   * @param databaseMs the database's time at some moment between the other two, which are readings
   *   of `performance.now()`.
   */
  correct(databaseMs: number, beforeMs: number, afterMs: number): void;
}

export function createDatabaseClock(): DatabaseClock {
  let offsetMs: number | null = null;
  return {
    // Until the database has reported its time, this machine's time is used.
    nowMs: () =>
      offsetMs === null ? systemClock.nowMs() : Math.floor(performance.now() + offsetMs),
    schedule: systemClock.schedule,
    correct(databaseMs, beforeMs, afterMs) {
      // The database read its clock between the two moments, so the true offset lies between these
      // two bounds. An offset that lies there already is kept: the time must not jump back and
      // forth with the duration of a query.
      const leastMs = databaseMs - afterMs;
      // The database's milliseconds are rounded down.
      const mostMs = databaseMs + 1 - beforeMs;
      offsetMs = Math.min(Math.max(offsetMs ?? (leastMs + mostMs) / 2, leastMs), mostMs);
    },
  };
}

/** Reads the database's time once, for a hub that starts. */
export async function correctClock(clock: DatabaseClock, reader: Reader): Promise<void> {
  const beforeMs = performance.now();
  const row = await reader.firstSql<{ now_ms: number }>(
    'SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now_ms',
    [],
  );
  if (row !== undefined) clock.correct(row.now_ms, beforeMs, performance.now());
}
