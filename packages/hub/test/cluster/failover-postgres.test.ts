import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type LocalPostgres, startLocalPostgres } from '@signalbox/local-postgres';
import pg from 'pg';
import { createHub, type Hub } from '../../src/start/app.ts';
import { readConfig } from '../../src/start/config.ts';
import { startGate } from '../support/gate.ts';
import {
  addAgent,
  addWorkspace,
  claimWaiting,
  enqueueJob,
  type HubsWorkspace,
  postHub,
  untilParked,
} from '../support/several-hubs.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

/** A separate server, because the tests freeze it, kill it and cut it off. */
let server: LocalPostgres;
const options = { timeout: 40_000 };

before(async () => {
  server = await startLocalPostgres();
});

async function startHub(databaseUrl: string, directory: string): Promise<Hub> {
  const config = readConfig({ SVC_PORT: '0', SVC_LOG_LEVEL: 'silent' });
  const hub = await createHub({ config: { ...config, dataDir: directory, databaseUrl } });
  await hub.listen();
  return hub;
}

/** An empty database of the server. */
async function createDatabase(name: string): Promise<string> {
  const url = new URL(server.url);
  await ask(url.href, `CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  return url.href;
}

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

function enqueue(hub: Hub, { workspaceId, repoId, token }: HubsWorkspace) {
  const body = { workspaceId, repoId, kind: 'work', prompt: 'Do it.' };
  return postHub(hub, endpoints.jobs.enqueue.path, body, token);
}

/** Clients that enqueue continuously and remember which jobs were accepted. */
function startLoad(hub: Hub, workspace: HubsWorkspace) {
  const accepted = new Set<unknown>();
  const statuses = new Set<number>();
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const { status, answer } = await enqueue(hub, workspace);
      statuses.add(status);
      if (status === 200) accepted.add(answer.jobId);
    }
  });
  return {
    statuses,
    async untilMore() {
      const before = accepted.size;
      await until('jobs are accepted', () => accepted.size > before + 5);
    },
    async end() {
      isOver = true;
      await Promise.all(clients);
    },
    /** Each request was accepted or refused, and every accepted job exists. */
    async check(url: string) {
      const others = [...statuses].filter((status) => status !== 200 && status !== 503);
      assert.deepEqual(others, []);
      const kept = await ask(url, 'SELECT job_id FROM jobs');
      const ids = new Set(kept.map((row) => row.job_id));
      const lost = [...accepted].filter((jobId) => !ids.has(jobId));
      assert.deepEqual(lost, []);
    },
  };
}

/** While the database is unavailable, every request is refused; waiting calls continue later. */
async function checkOutage(hub: Hub, outage: { begin(): unknown; end(): unknown }): Promise<void> {
  const workspace = await addWorkspace(hub);
  const agentId = await addAgent(hub, workspace, 'one');
  const claim = claimWaiting(hub, workspace, agentId);
  await untilParked(hub, 1);
  await outage.begin();
  const first = await enqueue(hub, workspace);
  assert.equal(first.status, 503, JSON.stringify(first.answer));
  assert.equal(first.answer.error, 'UNAVAILABLE');
  assert.equal((await enqueue(hub, workspace)).status, 503);
  await outage.end();
  await until(
    'the hub works again',
    async () => (await enqueue(hub, workspace)).status === 200,
    20_000,
  );
  // Refused requests left nothing, so the only job is the one just enqueued.
  const claimed = await claim;
  assert.notEqual(claimed.jobId, null);
}

test('while no packet reaches the database, requests are refused', options, async (t) => {
  const gate = await startGate(await createDatabase('black_hole'));
  const hub = await startHub(gate.url, makeTempDir(t));
  t.after(async () => {
    gate.open();
    await hub.stop();
    gate.close();
  });
  await checkOutage(hub, { begin: () => gate.block(), end: () => gate.open() });
});

test('while the processes of the database are frozen, requests are refused', options, async (t) => {
  const url = await createDatabase('frozen');
  const hub = await startHub(url, makeTempDir(t));
  t.after(() => hub.stop());
  let frozen: number[] = [];
  await checkOutage(hub, {
    async begin() {
      const pidFile = readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8');
      const rows = await ask(
        url,
        `SELECT pid FROM pg_stat_activity WHERE datname = 'frozen' AND pid <> pg_backend_pid()`,
      );
      frozen = [Number.parseInt(pidFile, 10), ...rows.map((row) => Number(row.pid))];
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    },
    end: () => frozen.forEach((pid) => void process.kill(pid, 'SIGCONT')),
  });
});

for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
  const name = `a server that ${signal} ended has every accepted job after its restart`;
  test(name, options, async (t) => {
    const durable = await startLocalPostgres({ durable: true });
    const hub = await startHub(durable.url, makeTempDir(t));
    t.after(async () => {
      await hub.stop();
      await durable.stop();
    });
    const load = startLoad(hub, await addWorkspace(hub));
    try {
      await load.untilMore();
      await durable.end(signal);
      await until('a request is refused', () => load.statuses.has(503));
      await durable.startAgain();
      await load.untilMore();
    } finally {
      await load.end();
    }
    await load.check(durable.url);
  });
}

test('killing single backends stops no hub and corrupts no answer', options, async (t) => {
  const url = await createDatabase('backends');
  const hub = await startHub(url, makeTempDir(t));
  t.after(() => hub.stop());
  const load = startLoad(hub, await addWorkspace(hub));
  try {
    for (let round = 0; round < 12; round++) {
      await ask(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = 'backends' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 2`,
      );
      await load.untilMore();
    }
  } finally {
    await load.end();
  }
  await load.check(url);
});

test('a server whose backend crashes recovers, and so do the hubs', options, async (t) => {
  const url = await createDatabase('crash');
  const hub = await startHub(url, makeTempDir(t));
  t.after(() => hub.stop());
  const workspace = await addWorkspace(hub);
  const jobId = await enqueueJob(hub, workspace);
  const rows = await ask(
    url,
    `SELECT pid FROM pg_stat_activity WHERE datname = 'crash' AND pid <> pg_backend_pid()`,
  );
  const backends = rows.map((row) => Number(row.pid));
  assert.ok(backends.length > 0);
  process.kill(backends[0]!, 'SIGKILL');
  // Until the server notices, the other sessions continue normally.
  await until('the server has ended all sessions', () => !backends.some(isRunning));
  await until('the hub works again', async () => (await enqueue(hub, workspace)).status === 200);
  const agentId = await addAgent(hub, workspace, 'one');
  assert.equal((await claimWaiting(hub, workspace, agentId)).jobId, jobId);
});

test(
  'hubs stop using a primary that becomes read-only at once, also for reads, and recover',
  options,
  async (t) => {
    const url = await createDatabase('demoted');
    const hub = await startHub(url, makeTempDir(t));
    t.after(() => hub.stop());
    const workspace = await addWorkspace(hub);
    const { workspaceId, token } = workspace;
    // As on a standby: new transactions cannot write.
    await ask(server.url, 'ALTER DATABASE demoted SET default_transaction_read_only = on');
    await ask(
      server.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'demoted'`,
    );
    const list = () => postHub(hub, endpoints.jobs.list.path, { workspaceId }, token);
    await until('reads are refused', async () => (await list()).status === 503);
    assert.equal((await enqueue(hub, workspace)).status, 503);
    await ask(server.url, 'ALTER DATABASE demoted SET default_transaction_read_only = off');
    await until('the hub works again', async () => (await enqueue(hub, workspace)).status === 200);
    assert.equal((await list()).status, 200);
  },
);

test('an unreachable database stops the start with one sentence', async (t) => {
  const { port } = new URL(server.url);
  const databaseUrl = `postgres://somebody:secret@127.0.0.1:${port}/nowhere`;
  await assert.rejects(startHub(databaseUrl, makeTempDir(t)), (error: Error) => {
    assert.equal(error.constructor.name, 'StartError');
    assert.match(error.message, /^The database at 127\.0\.0\.1:\d+\/nowhere cannot be used \(/);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
});
