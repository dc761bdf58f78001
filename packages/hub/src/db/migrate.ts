import type { Database, Reader, Tx } from './engine.ts';
import { type Migration, migrations } from './migrations/index.ts';

/** The database was written by a newer Signalbox, so this one must not change it. */
export class NewerDatabaseError extends Error {}

/**
 * The statement that a migration runs, from 1, and how many there are; zeros before it begins. It
 * may be shared with another thread.
 */
export type MigrationProgress = Int32Array;

export const noProgress = (): MigrationProgress => new Int32Array(new SharedArrayBuffer(8));

/**
 * Brings the schema up to date in one atomic action, so that a hub that is killed meanwhile leaves
 * the database as it was, and hubs that start together do it one after the other.
 *
 * @returns the versions applied, in order; empty when the schema was current.
 */
export function migrate(
  database: Database,
  known: readonly Migration[] = migrations,
  progress: MigrationProgress = noProgress(),
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
    const versions = known.map(({ version }) => version);
    const newer = Math.max(...applied.difference(new Set(versions)));
    if (newer > 0) {
      throw new NewerDatabaseError(
        `The database has schema version ${newer}, but this Signalbox supports up to ` +
          `${versions.at(-1) ?? 0}: ` +
          'start a newer Signalbox, or restore a backup made by this one.',
      );
    }
    // Versions have gaps, which later releases may fill.
    const missing = known.filter((migration) => !applied.has(migration.version));
    progress.set([0, missing.flatMap(({ statements }) => statements(tx.engine)).length]);
    for (const migration of missing) await applyMigration(tx, migration, progress);
    if (missing.length > 0) await database.schemaChanged(tx);
    return missing.map((migration) => migration.version);
  });
}

/** Of a database before a hub starts on it: `newer` has migrations that are not known. */
export type SchemaState = 'new' | 'old' | 'current' | 'newer';

/** Compares the schema of a database with that of this Signalbox; only reads. */
export async function readSchemaState(
  { reader, engine }: Database,
  known: readonly Migration[] = migrations,
): Promise<SchemaState> {
  const table = await reader.firstSql<{ found: string | null }>(
    engine === 'postgres'
      ? `SELECT to_regclass('schema_migrations')::text AS found`
      : `SELECT name AS found FROM sqlite_schema WHERE name = 'schema_migrations'`,
    [],
  );
  if (table?.found == null) return 'new';
  const applied = await readVersions(reader);
  const versions = new Set(known.map(({ version }) => version));
  if (!applied.isSubsetOf(versions)) return 'newer';
  return applied.size === versions.size ? 'current' : 'old';
}

/**
 * An SQL expression for the newest version of a database that is not among some; null: there is
 * none. Later releases may fill gaps, so a newer version need not be the highest.
 */
export function newerVersionThan(versions: readonly number[]): string {
  return `(SELECT MAX(version) FROM schema_migrations WHERE version NOT IN (${versions.join(', ')}))`;
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

async function applyMigration(
  tx: Tx,
  migration: Migration,
  progress: MigrationProgress,
): Promise<void> {
  for (const statement of migration.statements(tx.engine)) {
    Atomics.add(progress, 0, 1);
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
