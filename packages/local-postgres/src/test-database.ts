import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { startLocalPostgres } from './server.ts';

/** What every test database starts with. */
export interface DatabaseTemplate {
  /**
   * Differs whenever what `prepare` makes differs, such as the text of all migrations; two
   * versions of the project may use one server.
   */
  readonly fingerprint: string;
  /** Fills an empty database and leaves no connection to it. */
  prepare(url: string): Promise<void>;
}

export interface TestDatabase {
  readonly url: string;
  /** Takes it away, whoever is still connected. */
  drop(): Promise<void>;
}

/** Names the server of all test processes; without it, each starts one of its own. */
export const serverVariable = 'SVC_TEST_DATABASE_URL';

const templatePrefix = 'signalbox_template_';
const draftPrefix = 'signalbox_draft_';
const testPrefix = 'signalbox_test_';
/** A database this old is of a test that was killed: its name tells when it was made. */
const leftoverMs = 6 * 3_600_000;
/** Of the advisory lock under which templates are made; any number that nobody else uses. */
const templateLock = 743_190_226;

interface Server {
  readonly url: string;
  readonly pool: pg.Pool;
  /** How a template is copied; see `chooseStrategy`. */
  readonly strategy: string;
}

let serverStart: Promise<Server> | undefined;
const templates = new Map<string, Promise<string>>();

/**
 * A database of its own for one test: a copy of the template, which is made once for the server
 * and everybody who uses it.
 */
export async function createTestDatabase(template: DatabaseTemplate): Promise<TestDatabase> {
  serverStart ??= openServer();
  const server = await serverStart;
  let templateStart = templates.get(template.fingerprint);
  if (templateStart === undefined) {
    templateStart = ensureTemplate(server, template);
    templates.set(template.fingerprint, templateStart);
    // Who comes next may have better luck.
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
  // Idle connections must neither keep a test's process alive nor hold up its end.
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    idleTimeoutMillis: 1_000,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced by the next statement, which says what is wrong.
  pool.on('error', () => undefined);
  return { url, pool, strategy: await chooseStrategy(pool) };
}

/** Copying files takes a fraction of the time, unless each of them is synced to the disk. */
async function chooseStrategy(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ fsync: string }>('SHOW fsync');
  return rows[0]?.fsync === 'off' ? 'FILE_COPY' : 'WAL_LOG';
}

/** Makes the template unless it is there. Under a lock, so that of several processes one does. */
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
    // Prepared under another name: whoever is killed half-way leaves no template that looks whole.
    const draft = `${draftPrefix}${hash}`;
    await client.query(`CREATE DATABASE ${draft} TEMPLATE template0 ENCODING 'UTF8'`);
    await prepare(withDatabase(url, draft));
    await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
    return name;
  } finally {
    // With the connection goes the lock.
    client.release(true);
  }
}

async function exists(client: pg.ClientBase, name: string): Promise<boolean> {
  const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  return found.rows.length > 0;
}

/** Drops drafts, all of which are dead while the lock is held, and databases of killed tests. */
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
