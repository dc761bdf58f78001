import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startPgbouncer, whyNoPgbouncer } from '../support/pgbouncer.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  claimWaiting,
  enqueueJob,
  startSeveralHubs,
  untilParked,
} from '../support/several-hubs.ts';

const skip = whyNoPgbouncer();
const options = { timeout: 40_000, ...(skip === undefined ? {} : { skip }) };
const JOBS = 120;
const AGENTS = 12;

test('two hubs behind a pooler in transaction mode hand out each job once', options, async (t) => {
  const world = await startSeveralHubs(t);
  const pooled = { databaseUrl: await startPgbouncer(t, world.databaseUrl), databasePooled: true };
  const more = { ...pooled, databaseSessions: 12 };
  const hubs = [await world.start(more), await world.start(more)] as const;
  const hubOf = (at: number) => (at % 2 === 0 ? hubs[0] : hubs[1]);
  const workspace = await addWorkspace(hubs[0]);
  const { workspaceId, token } = workspace;
  const done: string[] = [];
  const work = async (number: number) => {
    const hub = hubOf(number);
    const agentId = await addAgent(hub, workspace, `agent ${number}`);
    while (done.length < JOBS) {
      const { jobId } = await claimWaiting(hub, workspace, agentId, { waitMs: 1_000 });
      if (jobId === null) continue;
      const body = { workspaceId, jobId, agentId, outcome: 'done' as const };
      // Through the other hub.
      await callHub(hubOf(number + 1), endpoints.jobs.complete, body, token);
      done.push(jobId);
    }
  };
  const works = Array.from({ length: AGENTS }, (_none, at) => work(at));
  const enqueues = Array.from({ length: JOBS }, (_none, at) => enqueueJob(hubOf(at), workspace));
  const jobIds = await Promise.all(enqueues);
  await Promise.all(works);
  assert.deepEqual(done.toSorted(), jobIds.toSorted());
  assert.equal(hubs.filter(({ group }) => group.isLeader()).length, 1);
});

test('behind a pooler waiting claims get jobs by polling, and limits hold', options, async (t) => {
  const world = await startSeveralHubs(t);
  const pooled = {
    databaseUrl: await startPgbouncer(t, world.databaseUrl),
    databasePooled: true,
  };
  const waiting = await world.start(pooled);
  const other = await world.start(pooled);
  const workspace = await addWorkspace(other);
  const agentId = await addAgent(other, workspace, 'one');
  const claim = claimWaiting(waiting, workspace, agentId);
  await untilParked(waiting, 1);
  const jobId = await enqueueJob(other, workspace);
  assert.equal((await claim).jobId, jobId);
  const limit = await waiting.database.write(workspace.workspaceId, (tx) =>
    tx.firstSql<{ lock_timeout: string }>('SHOW lock_timeout', []),
  );
  assert.equal(limit?.lock_timeout, '5s');
});
