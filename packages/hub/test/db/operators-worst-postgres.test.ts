import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import pg from 'pg';
import { HubError } from '../../src/base/errors.ts';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';
import { Sessions } from '../../src/db/postgres/postgres-session.ts';
import { createHub } from '../../src/start/app.ts';
import { readConfig } from '../../src/start/config.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { template } from '../support/test-engine.ts';

/* How the hub meets databases that are set up in other ways than it needs. */

const limits = { connectMs: 3_000, statementMs: 5_000, lockMs: 4_000, idleInTransactionMs: 5_000 };
const options = { timeout: 60_000 };

interface World {
  url: string;
  /** The name of the database. */
  name: string;
  ask(text: string): Promise<pg.QueryResult>;
  /** The address for another role, which the test creates and which ends with it. */
  addRole(more?: string): Promise<{ role: string; url: string }>;
  /** Starts a hub that is expected to refuse. @returns the sentence. */
  refusalOf(url: string): Promise<string>;
}

async function setup(t: TestContext, prepared = template): Promise<World> {
  const { url, drop } = await createTestDatabase(prepared);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const roles: string[] = [];
  t.after(async () => {
    for (const role of roles) await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await client.end();
    await drop();
  });
  const name = new URL(url).pathname.slice(1);
  return {
    url,
    name,
    ask: (text) => client.query(text),
    async addRole(more = '') {
      const role = `r_${randomBytes(6).toString('hex')}`;
      roles.push(role);
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'pw' ${more}`);
      const address = new URL(url);
      address.username = role;
      address.password = 'pw';
      return { role, url: address.href };
    },
    async refusalOf(databaseUrl) {
      const config = { ...readConfig({ SVC_PORT: '0' }), databaseUrl, dataDir: makeTempDir(t) };
      const error = await createHub({ config }).then(
        () => null,
        (refusal: unknown) => refusal,
      );
      assert.ok(error instanceof Error);
      assert.equal(error.constructor.name, 'StartError', String(error.stack));
      assert.doesNotMatch(error.message, /\n|:pw@/);
      return error.message;
    },
  };
}

for (const isPooled of [false, true]) {
  const name = isPooled ? 'through a pooler' : 'directly';
  test(
    `transactions and reads ${name} are read committed, with any default`,
    options,
    async (t) => {
      const { url, name: database, ask } = await setup(t);
      await ask(`ALTER DATABASE ${database} SET default_transaction_isolation = 'serializable'`);
      const hub = openPostgres({ url, sessionsMax: 3, limits, isPooled });
      t.after(() => hub.close());
      const text = `SELECT current_setting('transaction_isolation') AS level`;
      const levels = [
        await hub.reader.firstSql(text, []),
        await hub.write(null, (tx) => tx.firstSql(text, [])),
        await hub.write('home', (tx) => tx.firstSql(text, [])),
        await hub.writeConcurrent({ workspaceId: 'home', keys: [] }, (tx) => tx.firstSql(text, [])),
      ];
      for (const level of levels) assert.deepEqual(level, { level: 'read committed' });
    },
  );
}

test('a conflict that remains is 503 with a time to retry, and no fault', options, async (t) => {
  const { url, ask } = await setup(t);
  await ask(`CREATE FUNCTION conflict(code TEXT) RETURNS INTEGER LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = code; END $$`);
  const hub = openPostgres({ url, sessionsMax: 3, limits, isPooled: false });
  t.after(() => hub.close());
  const isRetriable = (error: unknown) =>
    error instanceof HubError && error.code === 'UNAVAILABLE' && error.retryAfterMs === 1_000;
  for (const code of ['40001', '40P01']) {
    const conflict = `SELECT conflict('${code}')`;
    await assert.rejects(hub.reader.firstSql(conflict, []), isRetriable);
    await assert.rejects(
      hub.write('home', (tx) => tx.firstSql(conflict, [])),
      isRetriable,
    );
    const hot = { workspaceId: 'home', keys: [] };
    await assert.rejects(
      hub.writeConcurrent(hot, (tx) => tx.firstSql(conflict, [])),
      isRetriable,
    );
  }
});

test('a hub that gets no further connection uses those that it holds', options, async (t) => {
  const { addRole } = await setup(t);
  const { url } = await addRole('CONNECTION LIMIT 2');
  const hub = openPostgres({ url, sessionsMax: 9, limits, isPooled: false });
  t.after(() => hub.close());
  // One connection for reads and one for writes; the server refuses each further one.
  await hub.write('home', (tx) => tx.firstSql('SELECT 1 AS one', []));
  await hub.reader.firstSql('SELECT 1 AS one', []);
  const answers = await Promise.all([
    ...Array.from({ length: 20 }, (_, at) =>
      hub.write(`workspace ${at}`, (tx) => tx.firstSql('SELECT 1 AS one, pg_sleep(0.01)', [])),
    ),
    ...Array.from({ length: 20 }, (_, at) => hub.reader.firstSql(`SELECT ${at} AS one`, [])),
  ]);
  assert.equal(answers.length, 40);
});

test('a hub that gets no further connection asks for none in the next 5 s', options, async (t) => {
  const { addRole } = await setup(t);
  const { url } = await addRole('CONNECTION LIMIT 1');
  const address = new URL(url);
  const proxy = await startTcpProxy(t, Number(address.port));
  address.port = String(proxy.port);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sessions = new Sessions({ url: address.href, sessionsMax: 2, limits, isPooled: false });
  t.after(() => sessions.close());
  const ask = () => sessions.acquire().then((session) => session.release());
  /** Asks for a second connection, which is refused, and for some more sessions. */
  const askForMore = async () => {
    const held = await sessions.acquire();
    const refusal = once(proxy.events, 'gone');
    const first = ask();
    await refusal;
    const others = [ask(), ask()];
    held.release();
    await Promise.all([first, ...others]);
    return proxy.connections;
  };
  assert.equal(await askForMore(), 2);
  t.mock.timers.tick(5_000);
  const later = await askForMore();
  // The pool that creates the databases of tests needs its real timers.
  t.mock.timers.reset();
  assert.equal(later, 3);
});

test('an address without a password ends the start and its connections', options, async (t) => {
  const { url, refusalOf } = await setup(t);
  const bare = new URL(url);
  const proxy = await startTcpProxy(t, Number(bare.port));
  bare.port = String(proxy.port);
  bare.password = '';
  let gone = 0;
  const closed = Promise.withResolvers<void>();
  proxy.events.on('gone', () => {
    gone += 1;
    if (gone === proxy.connections) closed.resolve();
  });
  const message = await refusalOf(bare.href);
  assert.match(message, /SVC_DATABASE_URL has no password.*postgres:\/\/user:password@/);
  assert.ok(proxy.connections > 0, 'the server was asked');
  // An open one would keep the process until the server ends it: after its authentication_timeout,
  // a minute.
  const late = AbortSignal.timeout(30_000);
  late.addEventListener('abort', () => {
    closed.reject(new Error(`${proxy.connections - gone} connections are still open`));
  });
  if (gone === proxy.connections) closed.resolve();
  await closed.promise;
});

test('refusals at the start say what to do', options, async (t) => {
  const empty = { fingerprint: 'empty', prepare: async () => undefined };
  const { url, name, ask, addRole, refusalOf } = await setup(t, empty);
  const other = await addRole();
  const wrong = new URL(other.url);
  wrong.password = 'another';
  assert.match(
    await refusalOf(wrong.href),
    /password authentication failed.*correct user and pass/,
  );
  const nowhere = new URL(url);
  nowhere.pathname = '/nowhere';
  assert.match(await refusalOf(nowhere.href), /create it with CREATE DATABASE nowhere OWNER /);
  assert.match(await refusalOf(other.url), new RegExp(`OWNER TO ${other.role}`));
  await ask(`ALTER ROLE ${other.role} IN DATABASE ${name} SET search_path TO ''`);
  assert.match(await refusalOf(other.url), /RESET search_path/);
  await ask(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  assert.match(await refusalOf(url), /is read only \(default_transaction_read_only is on\)/);
});
