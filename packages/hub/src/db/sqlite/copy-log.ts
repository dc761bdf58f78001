import { DatabaseSync } from 'node:sqlite';
import type { Computation } from '../../base/side-thread.ts';

/** A pass over the log, or SQLite's error. */
export type CopyOutcome = { errcode: number; message: string } | null;

/**
 * Copies SQLite's log into the database file in another thread, while the hub reads and writes
 * both. Writes and syncs at most what the log has at its start.
 */
export const logCopying: Computation<string, CopyOutcome> = {
  module: import.meta.url,
  name: 'logCopying',
  compute(path) {
    try {
      copyLog(path);
      return null;
    } catch (error) {
      const { errcode = 0, message } = error as Error & { errcode?: number };
      return { errcode, message };
    }
  },
};

function copyLog(path: string): void {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    // As the writer does: the log is synced before it is copied, and the file afterwards.
    db.exec('PRAGMA synchronous = NORMAL; PRAGMA checkpoint_fullfsync = ON');
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } finally {
    db.close();
  }
}
