import { type Clock, systemClock } from '../clock.ts';
import type { Reader } from '../db/engine.ts';

/**
 * The database's time as told by a hub, whatever the hub's own clock says and however it is set:
 * a steady count, corrected by what the database says now and then. Reading it asks nobody.
 */
export interface DatabaseClock extends Clock {
  /**
   * @param databaseMs what the database said between the two, of `performance.now()`.
   */
  correct(databaseMs: number, beforeMs: number, afterMs: number): void;
}

export function createDatabaseClock(): DatabaseClock {
  let offsetMs: number | null = null;
  return {
    // Until the database has said something, this machine's time is as good as any.
    nowMs: () =>
      offsetMs === null ? systemClock.nowMs() : Math.floor(performance.now() + offsetMs),
    schedule: systemClock.schedule,
    correct(databaseMs, beforeMs, afterMs) {
      // It was said at some moment between, so the true offset lies between these two. What lies
      // there already stays as it is: time does not go to and fro with the length of a question.
      const leastMs = databaseMs - afterMs;
      // The database's milliseconds are cut off, not rounded.
      const mostMs = databaseMs + 1 - beforeMs;
      offsetMs = Math.min(Math.max(offsetMs ?? (leastMs + mostMs) / 2, leastMs), mostMs);
    },
  };
}

/** Asks the database for the time, for a hub that starts. */
export async function correctClock(clock: DatabaseClock, reader: Reader): Promise<void> {
  const beforeMs = performance.now();
  const row = await reader.firstSql<{ now_ms: number }>(
    'SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now_ms',
    [],
  );
  if (row !== undefined) clock.correct(row.now_ms, beforeMs, performance.now());
}
