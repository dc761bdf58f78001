import type { Database, Reader, Tx } from './engine.ts';
import { type Migration, migrations } from './migrations/index.ts';

/** The database was written by a newer Signalbox, so this one must not change it. */
export class NewerDatabaseError extends Error {}

/**
 * Brings the schema up to date in one atomic action, so that a hub that is killed meanwhile leaves
 * the database as it was, and hubs that start together do it one after the other.
 *
 * @returns the versions applied, in order; empty when the schema was current.
 */
export function migrate(
  database: Database,
  known: readonly Migration[] = migrations,
): Promise<number[]> {
  return database.write(null, async (tx) => {
    await tx.runSql(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
        version INTEGER NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        applied_at BIGINT NOT NULL
      )`,
      [],
    );
    const current = await readSchemaVersion(tx);
    const newest = known.at(-1)?.version ?? 0;
    if (current > newest) {
      throw new NewerDatabaseError(
        `The database has schema version ${current}, but this Signalbox supports up to ${newest}: ` +
          'start a newer Signalbox, or restore a backup made by this one.',
      );
    }
    const missing = known.filter((migration) => migration.version > current);
    for (const migration of missing) await applyMigration(tx, migration);
    if (missing.length > 0) await database.schemaChanged(tx);
    return missing.map((migration) => migration.version);
  });
}

/** Whether the schema is current; only reads. */
export async function isMigrated(
  { reader, engine }: Database,
  known: readonly Migration[] = migrations,
): Promise<boolean> {
  if (engine === 'postgres') {
    const table = await reader.firstSql<{ found: string | null }>(
      `SELECT to_regclass('schema_migrations')::text AS found`,
      [],
    );
    if (table?.found == null) return false;
  }
  return (await readSchemaVersion(reader)) === (known.at(-1)?.version ?? 0);
}

/** The newest migration of a database. */
export async function readSchemaVersion(reader: Reader): Promise<number> {
  const row = await reader.firstSql<{ version: number }>(
    'SELECT COALESCE(MAX(version), 0) AS version FROM schema_migrations',
    [],
  );
  return row?.version ?? 0;
}

async function applyMigration(tx: Tx, migration: Migration): Promise<void> {
  for (const statement of migration.statements(tx.engine)) {
    await tx.runSql(tx.engine === 'postgres' ? collateByBytes(statement) : statement, []);
  }
  await tx.runSql('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)', [
    migration.version,
    migration.name,
    tx.nowMs,
  ]);
}

/** Makes texts compare by their bytes, as on SQLite, in any locale of the database. */
function collateByBytes(statement: string): string {
  return statement.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"');
}
