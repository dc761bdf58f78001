import pg from 'pg';
import { createTestDatabase, type DatabaseTemplate, type TestDatabase } from './test-database.ts';

/**
 * A test database that the tests of a process use in turn. Emptying one takes a tenth of the time
 * of copying the template and dropping the copy.
 */
export interface BorrowedDatabase {
  readonly url: string;
  /**
   * Restores the content of the template for the next test. Call it when every client of the test
   * has disconnected. A database that cannot be restored cheaply is dropped.
   */
  giveBack(): Promise<void>;
}

interface IdleDatabase {
  readonly database: TestDatabase;
  readonly pool: pg.Pool;
  readonly content: InitialContent;
}

/** The content of a new copy of the template. */
interface InitialContent {
  readonly shape: string;
  /** Deletes all rows and inserts the initial ones. */
  readonly restoreSql: string;
}

/** Deleted rows leave gaps in tables and indexes, so a database that had more rows is dropped. */
const restoredRowsMax = 5_000;
/** How long the sessions of clients that have disconnected may take to end. */
const sessionsEndMs = 500;

const idle = new Map<string, IdleDatabase[]>();
let isCleanupPlanned = false;

/**
 * Lends a test a database with the content of the template: one that an earlier test of this
 * process gave back, else a new copy. For tests of planner statistics or of the database itself use
 * `createTestDatabase`.
 */
export async function borrowTestDatabase(template: DatabaseTemplate): Promise<BorrowedDatabase> {
  const { fingerprint } = template;
  const found = idle.get(fingerprint)?.pop() ?? (await createIdle(template));
  return {
    url: found.database.url,
    async giveBack() {
      if (await restore(found)) putBack(fingerprint, found);
      else await dropIdle(found);
    },
  };
}

async function createIdle(template: DatabaseTemplate): Promise<IdleDatabase> {
  const database = await createTestDatabase(template);
  const pool = new pg.Pool({ connectionString: database.url, max: 1, allowExitOnIdle: true });
  // The next statement replaces a broken connection and reports any error.
  pool.on('error', () => undefined);
  return { database, pool, content: await readContent(pool) };
}

async function dropIdle({ database, pool }: IdleDatabase): Promise<void> {
  await pool.end();
  await database.drop();
}

function putBack(fingerprint: string, database: IdleDatabase): void {
  const list = idle.get(fingerprint);
  if (list === undefined) idle.set(fingerprint, [database]);
  else list.push(database);
  if (isCleanupPlanned) return;
  isCleanupPlanned = true;
  process.once('beforeExit', () => {
    isCleanupPlanned = false;
    void dropIdleDatabases();
  });
}

/**
 * Drops the databases that no test uses. A process does this at its end by itself; one that stops
 * the server earlier calls it before that.
 */
export async function dropIdleDatabases(): Promise<void> {
  const all = [...idle.values()].flat();
  idle.clear();
  await Promise.all(all.map(dropIdle));
}

/** Returns false if the database is not as new: its shape, its statistics or its size changed. */
async function restore({ pool, content }: IdleDatabase): Promise<boolean> {
  if (!(await untilUnused(pool)) || (await readShape(pool)) !== content.shape) return false;
  const results = (await pool.query(content.restoreSql)) as unknown as pg.QueryResult[];
  const deleted = results.filter(({ command }) => command === 'DELETE');
  return deleted.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0) <= restoredRowsMax;
}

/** Waits until no other session uses the database; returns false if one remains. */
async function untilUnused(pool: pg.Pool): Promise<boolean> {
  const endMs = performance.now() + sessionsEndMs;
  for (;;) {
    const { rows } = await pool.query<{ sessions: number }>(
      `SELECT count(*)::int AS sessions FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    if (rows[0]?.sessions === 0) return true;
    if (performance.now() > endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/**
 * Changes when a relation, column, constraint, trigger or function is added, removed or rewritten,
 * when a table is analyzed, and when the database gets a setting.
 */
async function readShape(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ shape: string }>(
    `SELECT concat_ws(' ',
       (SELECT concat(count(*), '/', sum(oid::bigint), '/', sum(relfilenode::bigint), '/',
          sum(relnatts)) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_trigger),
       (SELECT sum(oid::bigint) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_statistic JOIN pg_class ON pg_class.oid = starelid
        WHERE relnamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase
        WHERE datname = current_database())) AS shape`,
  );
  return rows[0]?.shape ?? '';
}

async function readContent(pool: pg.Pool): Promise<InitialContent> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
  );
  // No trigger and no foreign key may act on the statements.
  const statements = ['BEGIN', 'SET LOCAL session_replication_role = replica'];
  for (const { name } of tables) statements.push(`DELETE FROM ${name}`);
  for (const { name } of tables) {
    const { rows } = await pool.query<{ list: string | null }>(
      `SELECT json_agg(t)::text AS list FROM ${name} t`,
    );
    const list = rows[0]?.list ?? null;
    if (list === null) continue;
    statements.push(
      `INSERT INTO ${name} OVERRIDING SYSTEM VALUE
       SELECT * FROM json_populate_recordset(NULL::${name}, ${pg.escapeLiteral(list)})`,
    );
  }
  const { rows: sequences } = await pool.query<{ statement: string }>(
    `SELECT format('SELECT setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
       COALESCE(last_value, start_value), last_value IS NOT NULL) AS statement
     FROM pg_sequences WHERE schemaname = 'public'`,
  );
  for (const { statement } of sequences) statements.push(statement);
  statements.push('COMMIT');
  return { shape: await readShape(pool), restoreSql: statements.join(';\n') };
}
