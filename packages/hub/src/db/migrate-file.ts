import { systemClock } from '../base/clock.ts';
import type { Computation } from '../base/side-thread.ts';
import { type MigrationProgress, migrate } from './migrate.ts';
import { openSqlite } from './sqlite/sqlite-database.ts';

/** A migration as data, because functions do not cross to a thread. */
interface MigrationText {
  version: number;
  name: string;
  statements: string[];
}

interface FileMigration {
  path: string;
  migrations: readonly MigrationText[];
  progress: MigrationProgress;
}

/**
 * Migrates a database file in another thread, because each of its statements may take minutes. No
 * other connection of this process is open.
 */
export const fileMigration: Computation<FileMigration, Promise<number[]>> = {
  module: import.meta.url,
  name: 'fileMigration',
  async compute({ path, migrations, progress }) {
    const database = openSqlite(path, systemClock, { emptiesLog: true });
    try {
      const known = migrations.map((text) => ({ ...text, statements: () => text.statements }));
      return await migrate(database, known, progress);
    } finally {
      await database.close();
    }
  },
};
