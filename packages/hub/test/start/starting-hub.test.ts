import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { findFreePort } from '@signalbox/local-postgres';
import pg from 'pg';
import { type Migration, migrations } from '../../src/db/migrations/index.ts';
import { createHub, type Hub } from '../../src/start/app.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import type { HubOptions } from '../../src/start/hub-opening.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { takeDatabase, testEngine } from '../support/test-engine.ts';
import { until } from '../support/until.ts';

/* What a hub answers before it serves. */

const { live, ready } = endpoints.health;
const options = { timeout: 120_000 };
const version = (migrations.at(-1)?.version ?? 0) + 1;
/** Any number that no other test locks. */
const LOCK = 771_001;
/** Some seconds of work within one statement. */
const SLOW = `INSERT INTO later_things
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000000)
  SELECT MAX(n) FROM numbers`;

/** On PostgreSQL, its second step lasts until the test gives the lock up. */
const slow: Migration = {
  version,
  name: 'slow',
  statements: (engine) => [
    'CREATE TABLE later_things (n BIGINT)',
    engine === 'sqlite' ? SLOW : `SELECT pg_advisory_xact_lock(${LOCK})`,
    'CREATE TABLE even_later_things (n BIGINT)',
  ],
};

interface World {
  config: Config;
  /** Starts the hub, which ends with the test. */
  start(more?: Partial<HubOptions>): Promise<Hub>;
  /** Lets the second step of the migration end. */
  letGo(): Promise<void>;
}

/** A hub on a migrated database of its own, and the lock that holds its migration back. */
async function setup(t: TestContext): Promise<World> {
  const dataDir = makeTempDir(t);
  const taken = await takeDatabase(dataDir, testEngine === 'postgres');
  const { databaseUrl } = taken.config;
  const client = databaseUrl === null ? null : new pg.Client({ connectionString: databaseUrl });
  await client?.connect();
  await client?.query('SELECT pg_advisory_lock($1)', [LOCK]);
  const starts: Promise<Hub>[] = [];
  t.after(async () => {
    await client?.end();
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === 'fulfilled') await start.value.stop();
    }
    await taken.release();
  });
  const settings = readConfig({
    SVC_PORT: String(await findFreePort()),
    SVC_LOG_LEVEL: 'silent',
  });
  const config = { ...settings, dataDir, ...taken.config };
  return {
    config,
    start(more = {}) {
      const start = createHub({ config, migrations: [...migrations, slow], ...more });
      starts.push(start);
      return start;
    },
    async letGo() {
      await client?.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    },
  };
}

const messageOf = async (answer: Response) =>
  String(((await answer.json()) as { message?: unknown }).message);

test('a hub that migrates says that it lives and how far it is', options, async (t) => {
  const { config, start, letGo } = await setup(t);
  const baseUrl = `http://127.0.0.1:${config.port}`;
  const said: string[] = [];
  t.mock.timers.enable({ apis: ['setInterval'] });
  const starting = start({ onWait: (text) => said.push(text) });
  const ask = (path: string) => fetch(baseUrl + path);
  const isAtStep2 = async () => {
    const answer = await ask(ready.path).catch(() => null);
    return answer !== null && /step 2 of 3/.test(await messageOf(answer));
  };
  await until('the second step runs', isAtStep2);
  t.mock.timers.tick(5_000);
  t.mock.timers.reset();
  assert.match(said.join('\n'), /it migrates its database, step 2 of 3 \(since \d{4}-.*Z\)\.$/);
  const alive = await ask(live.path);
  assert.deepEqual([alive.status, await alive.json()], [200, { ok: true }]);
  const { path } = endpoints.jobs.claimNext;
  const claim = await fetch(baseUrl + path, { method: 'POST', body: '{}' });
  for (const refused of [claim, await ask(ready.path), await ask('/'), await ask('/nowhere')]) {
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    const { error, requestId } = (await refused.json()) as Record<string, unknown>;
    assert.equal(error, 'UNAVAILABLE');
    assert.equal(refused.headers.get('x-request-id'), requestId);
  }
  await letGo();
  const hub = await starting;
  assert.equal((await ask(ready.path)).status, 503, 'it is composed, and does not serve yet');
  const { address, firstOwnerUrl } = await hub.listen();
  assert.equal(address, baseUrl);
  assert.notEqual(firstOwnerUrl, null);
  assert.equal((await ask(ready.path)).status, 200);
});

test('no probe is refused from the first answer of a start to the last', options, async (t) => {
  const { config, start, letGo } = await setup(t);
  const starting = start();
  const probe = () => fetch(`http://127.0.0.1:${config.port}${live.path}`);
  await until('it answers', () =>
    probe().then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  let isOver = false;
  let probes = 0;
  const probing = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      assert.equal((await probe()).status, 200);
      probes += 1;
    }
  });
  await letGo();
  const hub = await starting;
  await hub.listen();
  const before = probes;
  await until('probes reach the hub that serves', () => probes > before + 20);
  isOver = true;
  await Promise.all(probing);
});

test(
  'a migration that fails ends the start and leaves the database as it was',
  options,
  async (t) => {
    const { config, start } = await setup(t);
    const failing = {
      ...slow,
      statements: () => ['CREATE TABLE later_things (n BIGINT)', 'INSERT INTO nowhere VALUES (1)'],
    };
    await assert.rejects(start({ migrations: [...migrations, failing] }), /nowhere/);
    await assert.rejects(
      fetch(`http://127.0.0.1:${config.port}${live.path}`),
      'the port is closed',
    );
    const hub = await start({ migrations });
    await hub.listen();
    const reading = hub.database.reader.firstSql('SELECT n FROM later_things', []);
    await assert.rejects(reading, /later_things/);
  },
);
