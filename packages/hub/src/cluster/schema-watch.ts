import { HubError } from '../base/errors.ts';
import type { Database, Reader, SqlValue } from '../db/engine.ts';
import { newerVersionThan } from '../db/migrate.ts';

const RETRY_AFTER_MS = 1_000;

/**
 * Whether a newer hub has migrated the database of this one. Then this hub begins no more work: its
 * statements were not written for that schema.
 */
export class SchemaWatch {
  /** An SQL expression: the newest version in the database that this hub does not know, or null. */
  readonly newerVersion: string;
  readonly #newest: number;
  #onNewer: (sentence: string) => void = () => undefined;
  #sentence: string | null = null;

  /** @param newest the newest migration that this hub knows. */
  constructor(newest: number) {
    this.newerVersion = newerVersionThan(newest);
    this.#newest = newest;
  }

  /** Calls a function once, with what an operator should do, when the schema is newer. */
  onNewer(listener: (sentence: string) => void): void {
    this.#onNewer = listener;
  }

  /** Takes the value of `newerVersion` in the database. */
  note(version: number | null): void {
    if (version === null || this.#sentence !== null) return;
    this.#sentence =
      `A newer Signalbox has migrated the database to schema version ${version}, and this hub ` +
      `knows ${this.#newest}: it takes no more work. Start it again with the newer version.`;
    this.#onNewer(this.#sentence);
  }

  /** @throws HubError UNAVAILABLE when the schema is newer. */
  requireCurrent(cause?: unknown): void {
    if (this.#sentence === null) return;
    throw new HubError('UNAVAILABLE', this.#sentence, { cause, retryAfterMs: RETRY_AFTER_MS });
  }

  /**
   * Looks at the database after a fault, which the schema of a newer hub may have caused before the
   * next heartbeat has seen it.
   * @throws HubError UNAVAILABLE when it is newer, or else the error.
   */
  async explain(error: unknown, reader: Reader): Promise<never> {
    if (!(error instanceof HubError)) {
      const row = await reader.firstSql<{ newer: number | null }>(
        `SELECT ${this.newerVersion} AS newer`,
        [],
      );
      this.note(row?.newer ?? null);
      this.requireCurrent(error);
    }
    throw error;
  }
}

/** Makes a database of several hubs begin no action once a newer hub has migrated it. */
export function watchSchema(database: Database, schema: SchemaWatch): Database {
  if (database.engine === 'sqlite') return database;
  const { reader } = database;
  const explain = (error: unknown) => schema.explain(error, reader);
  const guarded = async <T>(begin: () => Promise<T>): Promise<T> => {
    schema.requireCurrent();
    return begin().catch(explain);
  };
  return {
    engine: database.engine,
    warnings: database.warnings,
    reader: {
      engine: reader.engine,
      rowLock: reader.rowLock,
      kept: reader.kept,
      allSql: <Row>(sql: string, values: readonly SqlValue[]) =>
        reader.allSql<Row>(sql, values).catch(explain),
      firstSql: <Row>(sql: string, values: readonly SqlValue[]) =>
        reader.firstSql<Row>(sql, values).catch(explain),
    },
    write: (scope, action) => guarded(() => database.write(scope, action)),
    writeConcurrent: (scope, action) => guarded(() => database.writeConcurrent(scope, action)),
    watch: (note) => database.watch(note),
    setAvailable: (isAvailable) => database.setAvailable(isAvailable),
    schemaChanged: (tx) => database.schemaChanged(tx),
    close: () => database.close(),
  };
}
