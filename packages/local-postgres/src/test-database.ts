import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { startLocalPostgres } from './server.ts';

/** The initial content of every test database. */
export interface DatabaseTemplate {
  /**
   * Must change whenever the result of `prepare` changes, for instance the text of all migrations.
   * Two versions of the project may use the same server.
   */
  readonly fingerprint: string;
  /** Fills an empty database and closes all its connections. */
  prepare(url: string): Promise<void>;
}

export interface TestDatabase {
  readonly url: string;
  /** Drops the database, even while clients are connected. */
  drop(): Promise<void>;
}

/** Names the server for all test processes. Without it, each process starts its own. */
export const serverVariable = 'SVC_TEST_DATABASE_URL';

const templatePrefix = 'signalbox_template_';
const draftPrefix = 'signalbox_draft_';
const testPrefix = 'signalbox_test_';
/** Age at which a test database counts as left over; its name contains its creation time. */
const leftoverMs = 6 * 3_600_000;
/** Key of the advisory lock for creating templates: an arbitrary, otherwise unused number. */
const templateLock = 743_190_226;

interface Server {
  readonly url: string;
  readonly pool: pg.Pool;
  /** The strategy for copying a template; see `chooseStrategy`. */
  readonly strategy: string;
}

let serverStart: Promise<Server> | undefined;
const templates = new Map<string, Promise<string>>();

/**
 * Creates a separate database for one test: a copy of the template. The template is created once
 * per server and shared by all processes.
 */
export async function createTestDatabase(template: DatabaseTemplate): Promise<TestDatabase> {
  serverStart ??= openServer();
  const server = await serverStart;
  let templateStart = templates.get(template.fingerprint);
  if (templateStart === undefined) {
    templateStart = ensureTemplate(server, template);
    templates.set(template.fingerprint, templateStart);
    // Let the next call try again.
    templateStart.catch(() => templates.delete(template.fingerprint));
  }
  const templateName = await templateStart;
  const name = `${testPrefix}${Date.now().toString(36)}_${randomBytes(6).toString('hex')}`;
  await server.pool.query(
    `CREATE DATABASE ${name} TEMPLATE ${templateName} STRATEGY ${server.strategy}`,
  );
  return {
    url: withDatabase(server.url, name),
    async drop() {
      await server.pool.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function openServer(): Promise<Server> {
  const given = process.env[serverVariable] ?? '';
  const { url } = given === '' ? await startLocalPostgres() : { url: given };
  // Idle connections must neither keep a test process alive nor delay its end.
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    idleTimeoutMillis: 1_000,
    allowExitOnIdle: true,
  });
  // The next statement replaces a broken idle connection and reports any error.
  pool.on('error', () => undefined);
  return { url, pool, strategy: await chooseStrategy(pool) };
}

/** Copying files is much faster, unless each file is synced to disk. */
async function chooseStrategy(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ fsync: string }>('SHOW fsync');
  return rows[0]?.fsync === 'off' ? 'FILE_COPY' : 'WAL_LOG';
}

/** Creates the template unless it exists. A lock ensures that only one process creates it. */
async function ensureTemplate(
  { url, pool }: Server,
  { fingerprint, prepare }: DatabaseTemplate,
): Promise<string> {
  const hash = createHash('sha256').update(fingerprint).digest('hex').slice(0, 24);
  const name = `${templatePrefix}${hash}`;
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [templateLock]);
    if (await exists(client, name)) return name;
    await dropLeftovers(client);
    // Prepare under another name, so that a process killed during preparation leaves no incomplete
    // template.
    const draft = `${draftPrefix}${hash}`;
    await client.query(`CREATE DATABASE ${draft} TEMPLATE template0 ENCODING 'UTF8'`);
    await prepare(withDatabase(url, draft));
    await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
    return name;
  } finally {
    // Closing the connection releases the lock.
    client.release(true);
  }
}

async function exists(client: pg.ClientBase, name: string): Promise<boolean> {
  const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  return found.rows.length > 0;
}

/** Drops all drafts (none is in use while the lock is held) and the databases of killed tests. */
async function dropLeftovers(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    "SELECT datname FROM pg_database WHERE datname LIKE 'signalbox@_%' ESCAPE '@'",
  );
  for (const { datname } of rows) {
    if (datname.startsWith(draftPrefix) || isOldTest(datname)) {
      await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
    }
  }
}

function isOldTest(name: string): boolean {
  const [, time] = /^signalbox_test_([0-9a-z]+)_[0-9a-f]+$/.exec(name) ?? [];
  return time !== undefined && Number.parseInt(time, 36) < Date.now() - leftoverMs;
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
