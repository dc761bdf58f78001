import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createClient } from '@signalbox/sdk';
import { startSeededWorld } from '../seed/seeded-world.ts';
import { baseUrlOf } from '../subjects/hub.ts';
import { makeTempDir } from './temp-dir.ts';

test('seeded jobs and events work like the hub’s own: listed, claimed in order, completed', async (t) => {
  const store = { dataDir: makeTempDir(t), databaseUrl: null };
  const counts = { pending: 30, finished: 40, events: 500 };
  const world = await startSeededWorld(store, counts, 1, () => undefined);
  t.after(() => world.stop());
  const { workspaceId, targets, loggedJobId, agents } = world;
  const [agent] = agents;
  assert.ok(agent);
  const client = createClient({ baseUrl: baseUrlOf(targets[0]), token: agent.token });

  const listed = async (status: 'pending' | 'done') =>
    (await client.jobs.list({ workspaceId, status, limit: 200 })).jobs.length;
  // The counts include the three templates: one pending, two done.
  assert.deepEqual([await listed('pending'), await listed('done')], [31, 42]);

  const tail = await client.jobEvents.listForJob({ workspaceId, jobId: loggedJobId, limit: 3 });
  assert.ok((tail.events.at(-1)?.seq ?? 0) > 500);
  assert.equal(tail.events.at(-1)?.kind, 'completed');

  const claimed: string[] = [];
  for (let round = 0; round < 2; round++) {
    const { agentId } = agent;
    const { jobId, claimGeneration } = await client.jobs.claimNext({ workspaceId, agentId });
    assert.ok(jobId !== null && claimGeneration === 1);
    await client.jobs.complete({ workspaceId, jobId, agentId, claimGeneration, outcome: 'done' });
    claimed.push(jobId);
  }
  assert.deepEqual(claimed, claimed.toSorted(), 'the oldest goes first');
  const timeline = await client.jobEvents.listForJob({ workspaceId, jobId: claimed[0] ?? '' });
  assert.deepEqual(
    timeline.events.map(({ kind }) => kind),
    ['enqueued', 'claimed', 'completed'],
  );

  await world.stop();
  const db = new DatabaseSync(join(store.dataDir, 'signalbox.db'), { readOnly: true });
  t.after(() => db.close());
  assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
  const indexes = db.prepare(
    "SELECT count(*) AS n FROM sqlite_master WHERE name LIKE 'queue%ready'",
  );
  assert.equal(indexes.get()?.n, 1, 'the dropped indexes were recreated');
});
