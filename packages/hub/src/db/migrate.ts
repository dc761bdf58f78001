import type { Database, Reader, Tx } from './engine.ts';
import { type Migration, migrations } from './migrations/index.ts';

/** The database was written by another Signalbox, so this one must not change it. */
export class SchemaVersionError extends Error {}

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
    const applied = await readSchemaVersion(tx);
    requireKnown(applied, known);
    const missing = known.filter(({ version }) => version > applied);
    progress.set([0, missing.flatMap(({ statements }) => statements(tx.engine)).length]);
    for (const migration of missing) await applyMigration(tx, migration, progress);
    if (missing.length > 0) await database.schemaChanged(tx);
    return missing.map((migration) => migration.version);
  });
}

/** Of a database before a hub starts on it: `newer` has migrations that are not known. */
type SchemaState = 'new' | 'old' | 'current' | 'newer';

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
  const applied = await readSchemaVersion(reader);
  const newest = known.at(-1)?.version ?? 0;
  if (applied > newest) return 'newer';
  return applied === newest ? 'current' : 'old';
}

/** An SQL expression for the newest version of a database if it is above one; else null. */
export function newerVersionThan(version: number): string {
  return `(SELECT MAX(version) FROM schema_migrations WHERE version > ${version})`;
}

/** The newest migration of a database; 0: it has none. */
export async function readSchemaVersion(reader: Reader): Promise<number> {
  const row = await reader.firstSql<{ version: number | null }>(
    'SELECT MAX(version) AS version FROM schema_migrations',
    [],
  );
  return row?.version ?? 0;
}

/** @throws SchemaVersionError when the database is newer, or older than the first migration. */
function requireKnown(applied: number, known: readonly Migration[]): void {
  const newest = known.at(-1)?.version ?? 0;
  if (applied > newest) {
    throw new SchemaVersionError(
      `The database has schema version ${applied}, but this Signalbox supports up to ${newest}: ` +
        'start a newer Signalbox, or restore a backup made by this one.',
    );
  }
  if (applied > 0 && applied < (known[0]?.version ?? 0)) {
    throw new SchemaVersionError(
      `The database has schema version ${applied}, from before release 0.1.0: start the checkout ` +
        '698ab6c4 of Signalbox on it once, then start this one.',
    );
  }
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
