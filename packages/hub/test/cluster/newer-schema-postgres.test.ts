import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { systemClock } from '../../src/base/clock.ts';
import { type Migration, migrations } from '../../src/db/migrations/index.ts';
import type { Hub } from '../../src/start/app.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  enqueueJob,
  type HubsWorkspace,
  type HubsWorld,
  startSeveralHubs,
  untilAcquainted,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

/* Hubs of two versions on one database, and a schema that changes under a running hub. */

const options = { timeout: 60_000 };
const { health, jobs, repositories } = endpoints;

const current = migrations.at(-1)?.version ?? 0;
/** That of the next version, which only adds. */
const next: Migration = {
  version: current + 1,
  name: 'next',
  statements: () => [
    "ALTER TABLE queue_entries ADD COLUMN later_thing TEXT DEFAULT 'x'",
    'ALTER TABLE jobs ADD COLUMN later_thing TEXT',
  ],
};

const startNext = (world: HubsWorld): Promise<Hub> =>
  world.start({}, systemClock, [...migrations, next]);

/** Sends a call, which may be refused. */
async function send(hub: Pick<Hub, 'baseUrl'>, path: string, body: object, token: string) {
  const response = await fetch(hub.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, answer };
}

const enqueueBody = ({ workspaceId, repoId }: HubsWorkspace) => ({
  workspaceId,
  repoId,
  prompt: 'x',
  kind: 'work' as const,
});

test('a hub takes no more work once a newer one has migrated the database', options, async (t) => {
  const world = await startSeveralHubs(t, true);
  const older = await world.start();
  const logged = t.mock.method(older.server.log, 'error');
  const workspace = await addWorkspace(older);
  const agentId = await addAgent(older, workspace, 'one');
  const { token, workspaceId } = workspace;
  const claim = { workspaceId, agentId, waitMs: 60_000 };
  const waiting = send(older, jobs.claimNext.path, claim, token);
  await until('the claim waits', () => older.deps.waiters.count === 1);
  const newer = await startNext(world);
  const { status, answer } = await waiting;
  assert.ok(status === 503 || (status === 200 && answer.jobId === null), 'it waits no longer');
  const ready = await fetch(older.baseUrl + health.ready.path);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), new RegExp(`schema version ${next.version}.*knows ${current}`));
  assert.equal((await fetch(older.baseUrl + health.live.path)).status, 200);
  const refused = await send(older, jobs.enqueue.path, enqueueBody(workspace), token);
  assert.equal(refused.status, 503);
  assert.equal(refused.answer.error, 'UNAVAILABLE');
  assert.equal(refused.headers.get('retry-after'), '1');
  const read = await send(older, repositories.list.path, { workspaceId }, token);
  assert.equal(read.status, 200, 'reads that still work are answered');
  assert.equal(read.headers.get('connection'), 'close');
  await until('the newer one leads', () => newer.group.isLeader());
  assert.equal(older.group.isLeader(), false);
  await callHub(newer, jobs.enqueue, enqueueBody(workspace), token);
  const sentences = logged.mock.calls.map((call) => call.arguments[0]);
  const [sentence, ...others] = sentences.filter((text) => typeof text === 'string');
  assert.match(sentence ?? '', /Start it again with the newer version\.$/);
  assert.deepEqual(others, [], 'it says so once');
});

test(
  'a statement that the newer schema refuses is 503 before the next heartbeat',
  options,
  async (t) => {
    const world = await startSeveralHubs(t, true);
    const hub = await world.start();
    const workspace = await addWorkspace(hub);
    const { workspaceId, token } = workspace;
    await enqueueJob(hub, workspace);
    // A migration must not do this in one step with the version that stops using the columns.
    await world.read(
      `BEGIN;
     ALTER TABLE jobs RENAME COLUMN prompt TO prompt_before;
     ALTER TABLE repositories RENAME COLUMN label TO label_before;
     INSERT INTO schema_migrations VALUES (${next.version}, 'next', 0);
     COMMIT`,
    );
    const answers = await Promise.all([
      send(hub, jobs.enqueue.path, enqueueBody(workspace), token),
      send(hub, repositories.list.path, { workspaceId }, token),
    ]);
    for (const { status, headers } of answers) {
      assert.equal(status, 503);
      assert.equal(headers.get('retry-after'), '1');
    }
  },
);

test('a fault that the schema has not caused stays one', options, async (t) => {
  const world = await startSeveralHubs(t, true);
  const hub = await world.start();
  const workspace = await addWorkspace(hub);
  await world.read('ALTER TABLE repositories RENAME COLUMN label TO label_before');
  t.mock.method(hub.server.log, 'error', () => undefined);
  const { workspaceId, token } = workspace;
  const { status } = await send(hub, repositories.list.path, { workspaceId }, token);
  assert.equal(status, 500);
  assert.equal((await fetch(hub.baseUrl + health.ready.path)).status, 200);
});

test('columns that are added under load disturb no call', options, async (t) => {
  const world = await startSeveralHubs(t, true);
  const hubs = [await world.start(), await world.start()] as const;
  await untilAcquainted(...hubs);
  const workspace = await addWorkspace(hubs[0]);
  const { workspaceId, token } = workspace;
  let isOver = false;
  let done = 0;
  const cycle = async (number: number) => {
    const hub = hubs[number % 2] ?? hubs[0];
    const agentId = await addAgent(hub, workspace, `agent ${number}`);
    while (!isOver) {
      await callHub(hub, jobs.enqueue, enqueueBody(workspace), token);
      const claim = await callHub(hub, jobs.claimNext, { workspaceId, agentId }, token);
      if (claim.jobId === null) continue;
      const { jobId, claimGeneration = 0 } = claim;
      const result = { jobId, agentId, outcome: 'done', claimGeneration } as const;
      await callHub(hub, jobs.complete, { workspaceId, ...result }, token);
      await callHub(hub, jobs.get, { workspaceId, jobId }, token);
      done += 1;
    }
  };
  const load = Promise.all(Array.from({ length: 8 }, (_none, number) => cycle(number)));
  const tables = ['queue_entries', 'jobs', 'repositories', 'agents', 'tokens', 'workspaces'];
  const change = async () => {
    for (const [at, table] of [...tables, ...tables].entries()) {
      const before = done;
      await until('more jobs are done', () => done >= before + 5);
      await world.read(`ALTER TABLE ${table} ADD COLUMN later_${at} TEXT DEFAULT 'x'`);
    }
    isOver = true;
  };
  await Promise.race([change(), load]);
  await load;
});
