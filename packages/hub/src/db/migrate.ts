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
    const applied = await readVersions(tx);
    const current = Math.max(0, ...applied);
    const newest = known.at(-1)?.version ?? 0;
    if (current > newest) {
      throw new NewerDatabaseError(
        `The database has schema version ${current}, but this Signalbox supports up to ${newest}: ` +
          'start a newer Signalbox, or restore a backup made by this one.',
      );
    }
    // Versions have gaps, which later releases may fill.
    const missing = known.filter((migration) => !applied.has(migration.version));
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
  const applied = await readVersions(reader);
  return known.every(({ version }) => applied.has(version)) && applied.size === known.length;
}

/** The newest migration of a database. */
export async function readSchemaVersion(reader: Reader): Promise<number> {
  return Math.max(0, ...(await readVersions(reader)));
}

/** The versions of the migrations that were applied. */
async function readVersions(reader: Reader): Promise<Set<number>> {
  const rows = await reader.allSql<{ version: number }>(
    'SELECT version FROM schema_migrations',
    [],
  );
  return new Set(rows.map(({ version }) => version));
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
