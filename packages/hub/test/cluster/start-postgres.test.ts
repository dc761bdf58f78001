import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type LocalPostgres, startLocalPostgres } from '@signalbox/local-postgres';
import pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { isLinkValid } from '../../src/people/create-first-owner.ts';
import { createHub, type Hub } from '../../src/start/app.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import { startHubChild } from '../support/hub-child.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  claimWaiting,
  enqueueJob,
  startSeveralHubs,
} from '../support/several-hubs.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

let server: LocalPostgres;
const options = { timeout: 40_000 };

before(async () => {
  server = await startLocalPostgres();
});

async function createDatabase(name: string): Promise<string> {
  await ask(server.url, `CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function configOf(databaseUrl: string, dataDir: string, more: Partial<Config> = {}): Config {
  const config = readConfig({ SVC_PORT: '0', SVC_LOG_LEVEL: 'silent' });
  return { ...config, databaseUrl, dataDir, databaseSessions: 4, ...more };
}

/** Starts hubs on one data directory at once; all end with the test. */
async function startTogether(
  t: { after(end: () => Promise<void>): void },
  configs: Config[],
  known = migrations,
): Promise<{ hub: Hub; firstOwnerUrl: string | null }[]> {
  return Promise.all(
    configs.map(async (config) => {
      const hub = await createHub({ config, migrations: known });
      t.after(() => hub.stop());
      return { hub, ...(await hub.listen()) };
    }),
  );
}

async function checkStarted(
  url: string,
  started: { hub: Hub; firstOwnerUrl: string | null }[],
  known = migrations,
) {
  const versions = await ask(url, 'SELECT version FROM schema_migrations ORDER BY version');
  assert.deepEqual(
    versions.map((row) => row.version),
    known.map(({ version }) => version),
  );
  for (const { hub, firstOwnerUrl } of started) {
    const response = await fetch(`${hub.baseUrl}/control-plane/openapi.json`);
    assert.equal(response.status, 200);
    const linkToken = new URL(firstOwnerUrl ?? '').hash.replace('#token=', '');
    assert.equal(await isLinkValid(hub.database.reader, linkToken), true, 'every link works');
  }
}

test('five hubs start at once on an empty database', options, async (t) => {
  const url = await createDatabase('empty');
  const dataDir = makeTempDir(t);
  const configs = Array.from({ length: 5 }, () => configOf(url, dataDir));
  await checkStarted(url, await startTogether(t, configs));
});

test('five hubs start at once on an old database', options, async (t) => {
  const url = await createDatabase('old');
  const dataDir = makeTempDir(t);
  const database = await openDatabase(configOf(url, dataDir), '', systemClock);
  await migrate(database);
  await database.close();
  const statements = () => ['ALTER TABLE jobs ADD COLUMN later_thing TEXT'];
  const known = [...migrations, { version: 1_000, name: 'later', statements }];
  const configs = Array.from({ length: 5 }, () => configOf(url, dataDir));
  await checkStarted(url, await startTogether(t, configs, known), known);
});

test('a hub waits for a migration that takes longer than any request may', options, async (t) => {
  const url = await createDatabase('slow');
  const dataDir = makeTempDir(t);
  // The migrating hub holds this lock; a request would time out on it after 5 s.
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('BEGIN; SELECT pg_advisory_xact_lock(20891, 0)');
  let isReady = false;
  const starting = startTogether(t, [configOf(url, dataDir)]).then((started) => {
    isReady = true;
    return started;
  });
  // It waits in short tries, so that others do not queue behind it for long.
  let firstTryMs: number | null = null;
  const waitsForLong = async () => {
    const [row] = await ask(
      url,
      `SELECT (EXTRACT(EPOCH FROM query_start) * 1000)::int8 AS since FROM pg_stat_activity
       WHERE datname = 'slow' AND wait_event = 'advisory'`,
    );
    if (row === undefined) return false;
    firstTryMs ??= Number(row.since);
    return Number(row.since) - firstTryMs > 6_000;
  };
  await until('a hub waits for the lock', waitsForLong);
  assert.equal(isReady, false);
  await other.query('COMMIT');
  await other.end();
  await checkStarted(url, await starting);
});

test(
  'a hub that is killed during a migration leaves the database unchanged for the next',
  options,
  async (t) => {
    const url = await createDatabase('killed');
    const dataDir = makeTempDir(t);
    // The migration reaches this table late and waits there.
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('BEGIN; CREATE TABLE job_events (n BIGINT)');
    const spawned = Promise.withResolvers<ChildProcess>();
    const env = { SVC_DATABASE_URL: url };
    const child = startHubChild(t, dataDir, { env, onSpawn: spawned.resolve });
    const ended = assert.rejects(child, /the hub ended before it listened/);
    await until('the migration waits', async () => {
      const rows = await ask(
        url,
        `SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`,
      );
      return rows.length > 0;
    });
    (await spawned.promise).kill('SIGKILL');
    await ended;
    await other.query('ROLLBACK');
    await other.end();
    await checkStarted(url, await startTogether(t, [configOf(url, dataDir)]));
  },
);

test('a hub whose key is not its database’s does not start', options, async (t) => {
  const world = await startSeveralHubs(t);
  const secretKey = randomBytes(32);
  await world.start({ secretKey });
  await world.start({ secretKey, dataDir: world.dataDir });
  const otherKey = { secretKey: randomBytes(32), dataDir: world.dataDir };
  const refusal = /The key of this hub is not the one that its database/;
  await assert.rejects(world.start(otherKey), refusal);
  const dataDir = makeTempDir(t);
  await assert.rejects(world.start({ dataDir }), /The hub's key is missing: copy the file/);
  assert.equal(existsSync(join(dataDir, 'secret.key')), false, 'no other key is left behind');
});

test(
  'a hub that would not find the uploads of the other hubs does not start',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const secretKey = randomBytes(32);
    const first = await world.start({ secretKey });
    const elsewhere = { secretKey, dataDir: makeTempDir(t) };
    await assert.rejects(world.start(elsewhere), /stores the bytes of uploads in another place/);
    await first.stop();
    await world.start(elsewhere);
  },
);

test('a hub whose start is refused does not refuse the next', options, async (t) => {
  const world = await startSeveralHubs(t);
  const secretKey = randomBytes(32);
  const first = await world.start({ secretKey });
  const { workspaceId, token } = await addWorkspace(first);
  const draft = { fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 5 };
  const { uploadUrl } = await callHub(
    first,
    endpoints.uploads.create,
    { workspaceId, ...draft },
    token,
  );
  assert.equal((await fetch(uploadUrl, { method: 'PUT', body: 'bytes' })).status, 200);
  await first.stop();
  const elsewhere = configOf(world.databaseUrl, makeTempDir(t), { secretKey });
  const refused = await createHub({ config: elsewhere });
  await assert.rejects(refused.listen(), /has uploads whose bytes are not in/);
  await refused.stop();
  // As one of another place, it would be in the way of the right one for 5 s.
  assert.deepEqual(await world.read('SELECT hub_id FROM hubs'), []);
  const right = await world.start({ secretKey });
  assert.equal(right.group.others, 0);
});

test('only the first hub after an outage gives expired leases more time', options, async (t) => {
  const world = await startSeveralHubs(t);
  const first = await world.start();
  const workspace = await addWorkspace(first);
  const agentId = await addAgent(first, workspace, 'one');
  await enqueueJob(first, workspace);
  const claim = await claimWaiting(first, workspace, agentId, { leaseMs: 60_000 });
  const leaseEnd = async (hub: Hub) => {
    const row = await hub.database.reader.firstSql<{ left: number }>(
      `SELECT lease_expires_at - ${NOW_MS} AS left FROM queue_entries WHERE entry_id = ?`,
      [claim.jobId],
    );
    return row?.left ?? 0;
  };
  const expire = `UPDATE queue_entries SET lease_expires_at = ${NOW_MS} - 1`;
  await first.stop();
  await ask(world.databaseUrl, expire);
  const second = await world.start();
  assert.ok((await leaseEnd(second)) > 0, 'no hub was up, so the agent has time to reconnect');
  // From here on a hub is up and recovers the lease; the next hub must not prevent that.
  for (const loop of Object.values(second.loops)) await loop.stop();
  await ask(world.databaseUrl, expire);
  const third = await world.start();
  assert.ok((await leaseEnd(third)) < 0);
});

const NOW_MS = 'floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint';
