import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import pg from 'pg';
import type { Hub } from '../../src/start/app.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  claimWaiting,
  enqueueJob,
  startSeveralHubs,
  untilAcquainted,
  untilParked,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

/** Far more than any test needs; a missed hint costs a minute. */
const options = { timeout: 30_000 };

test(
  'a hint gives a claim that waits on one hub a job that is enqueued on another',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    // The clock does not advance, so no hub looks by itself.
    const clock = createManualClock(Date.now());
    const waiting = await world.start({}, clock);
    const other = await world.start({}, clock);
    await untilAcquainted(waiting, other);
    const workspace = await addWorkspace(other);
    const agentId = await addAgent(other, workspace, 'one');
    const claim = claimWaiting(waiting, workspace, agentId);
    await untilParked(waiting, 1);
    const jobId = await enqueueJob(other, workspace);
    assert.equal((await claim).jobId, jobId);
  },
);

test(
  'jobs enqueued together on a hub without waiting claims all go to claims on other hubs',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const clock = createManualClock(Date.now());
    const [first, second, third] = [
      await world.start({}, clock),
      await world.start({}, clock),
      await world.start({}, clock),
    ];
    await untilAcquainted(first, second, third);
    const workspace = await addWorkspace(third);
    const claims = [];
    for (let i = 0; i < 12; i++) {
      const agentId = await addAgent(third, workspace, `agent ${i}`);
      claims.push(claimWaiting(i % 2 === 0 ? first : second, workspace, agentId));
    }
    await Promise.all([untilParked(first, 6), untilParked(second, 6)]);
    const jobIds = await Promise.all(
      Array.from({ length: 12 }, () => enqueueJob(third, workspace)),
    );
    const claimed = (await Promise.all(claims)).map((claim) => claim.jobId);
    assert.deepEqual(new Set(claimed), new Set(jobIds));
  },
);

test('one ready job wakes at most one claim on each hub', options, async (t) => {
  const world = await startSeveralHubs(t);
  const clock = createManualClock(Date.now());
  const hubs = [await world.start({}, clock), await world.start({}, clock)] as const;
  await untilAcquainted(...hubs);
  const [first, second] = hubs;
  const workspace = await addWorkspace(first);
  const claims: ReturnType<typeof claimWaiting>[] = [];
  for (const hub of hubs) {
    for (let i = 0; i < 4; i++) {
      const agentId = await addAgent(hub, workspace, `agent ${claims.length}`);
      claims.push(claimWaiting(hub, workspace, agentId));
    }
  }
  await Promise.all([untilParked(first, 4), untilParked(second, 4)]);
  const woken = [first, second].map((hub) => countWaits(hub));
  await enqueueJob(first, workspace);
  assert.notEqual((await Promise.race(claims)).jobId, null);
  await Promise.all([untilParked(first, 3), untilParked(second, 4)]);
  // The hub on which it became ready had a claim for it, so the other gets no hint.
  assert.deepEqual(
    woken.map((count) => count()),
    [0, 0],
  );
});

test('a hub reads an unknown lane before it wakes claims for it', options, async (t) => {
  const world = await startSeveralHubs(t);
  const clock = createManualClock(Date.now());
  const waiting = await world.start({}, clock);
  const other = await world.start({}, clock);
  await untilAcquainted(waiting, other);
  const workspace = await addWorkspace(other);
  const reader = await addAgent(other, workspace, 'reads only', { canWrite: false });
  const writer = await addAgent(other, workspace, 'writes', { canWrite: true });
  const unsuited = claimWaiting(waiting, workspace, reader);
  await untilParked(waiting, 1);
  const suited = claimWaiting(waiting, workspace, writer);
  await untilParked(waiting, 2);
  const jobId = await enqueueJob(other, workspace);
  assert.equal((await suited).jobId, jobId);
  const reading = await enqueueJob(other, workspace, { requirements: '{"canWrite":false}' });
  assert.equal((await unsuited).jobId, reading);
});

test(
  'an agent at capacity that waits on one hub gets a job once it completes one on another',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const clock = createManualClock(Date.now());
    const waiting = await world.start({}, clock);
    const other = await world.start({}, clock);
    await untilAcquainted(waiting, other);
    const workspace = await addWorkspace(other);
    const { workspaceId, token } = workspace;
    const agentId = await addAgent(other, workspace, 'one', {
      canWrite: true,
      maxConcurrentJobs: 1,
    });
    const [held, next] = [await enqueueJob(other, workspace), await enqueueJob(other, workspace)];
    assert.equal((await claimWaiting(other, workspace, agentId)).jobId, held);
    const claim = claimWaiting(waiting, workspace, agentId);
    await untilParked(waiting, 1);
    const done = { workspaceId, jobId: held, agentId, outcome: 'done' as const };
    await callHub(other, endpoints.jobs.complete, done, token);
    assert.equal((await claim).jobId, next);
  },
);

test(
  'a claim that waits for a paused queue on one hub is tried again when another resumes it',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const clock = createManualClock(Date.now());
    const waiting = await world.start({}, clock);
    const other = await world.start({}, clock);
    await untilAcquainted(waiting, other);
    const workspace = await addWorkspace(other);
    const { workspaceId, token } = workspace;
    const agentId = await addAgent(other, workspace, 'one');
    await callHub(other, endpoints.queue.pause, { workspaceId }, token);
    const jobId = await enqueueJob(other, workspace);
    const claim = claimWaiting(waiting, workspace, agentId);
    await untilParked(waiting, 1);
    await callHub(other, endpoints.queue.resume, { workspaceId }, token);
    assert.equal((await claim).jobId, jobId);
  },
);

test('a wait for a resolution on one hub ends when another hub resolves it', options, async (t) => {
  const world = await startSeveralHubs(t);
  for (const isHeard of [true, false]) {
    const clock = isHeard ? createManualClock(Date.now()) : undefined;
    const waiting = await world.start({ databasePooled: !isHeard }, clock);
    const other = await world.start({}, clock);
    if (isHeard) await untilAcquainted(other, waiting);
    const workspace = await addWorkspace(other, isHeard ? 'heard' : 'unheard');
    const { workspaceId, token } = workspace;
    const run = { workspaceId, repoId: workspace.repoId, runRef: 'run', status: 'in_progress' };
    const { runId } = await callHub(other, endpoints.runs.upsertV1, run, token);
    const { uncertaintyId } = await callHub(
      other,
      endpoints.uncertainties.createWithAutoPromotion,
      { ...question, workspaceId, runId },
      token,
    );
    const wait = callHub(
      waiting,
      endpoints.uncertainties.wait,
      { workspaceId, uncertaintyId, waitMs: 60_000 },
      token,
    );
    await until('somebody waits', () => waiting.deps.decisionWaiters.count === 1);
    await callHub(
      other,
      endpoints.uncertainties.addResolution,
      { workspaceId, uncertaintyId, mode: 'answered', value: 'yes', confidence: 1 },
      token,
    );
    assert.equal((await wait).uncertainty.status, 'resolved');
  }
});

test(
  'a hub that receives no hints finds jobs for its waiting claims by polling',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const deaf = await world.start({ databasePooled: true });
    const other = await world.start();
    const workspace = await addWorkspace(other);
    const { workspaceId, token } = workspace;
    const one = await addAgent(other, workspace, 'one', { canWrite: true, maxConcurrentJobs: 1 });
    const claim = claimWaiting(deaf, workspace, one);
    await untilParked(deaf, 1);
    const held = await enqueueJob(other, workspace);
    assert.equal((await claim).jobId, held);

    const next = await enqueueJob(other, workspace);
    const atCapacity = claimWaiting(deaf, workspace, one);
    await untilParked(deaf, 1);
    const done = { workspaceId, jobId: held, agentId: one, outcome: 'done' as const };
    await callHub(other, endpoints.jobs.complete, done, token);
    assert.equal((await atCapacity).jobId, next);

    const two = await addAgent(other, workspace, 'two', { canWrite: false });
    const unsuited = claimWaiting(deaf, workspace, two);
    await untilParked(deaf, 1);
    const writing = await enqueueJob(other, workspace);
    await addAgent(other, workspace, 'two', { canWrite: true });
    assert.equal((await unsuited).jobId, writing);
  },
);

test(
  'a hub receives hints again after its connection for hints was terminated',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const clock = createManualClock(Date.now());
    const waiting = await world.start({}, clock);
    const other = await world.start({}, clock);
    await untilAcquainted(waiting, other);
    const workspace = await addWorkspace(other);
    const agentId = await addAgent(other, workspace, 'one');
    const operator = new pg.Client({ connectionString: world.databaseUrl });
    await operator.connect();
    const readConnections = async () => {
      const { rows } = await operator.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'signalbox hub\\_%'`,
      );
      return rows.map(({ pid }) => pid);
    };
    const ended = await readConnections();
    await operator.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [ended]);
    // They may connect again before a look at `isListening` would see that they had not.
    await until('all have other connections', async () => {
      const pids = await readConnections();
      return pids.length === ended.length && pids.every((pid) => !ended.includes(pid));
    });
    await operator.end();
    await until('all listen', () => [waiting, other].every(({ group }) => group.isListening()));
    await untilAcquainted(waiting, other);
    const claim = claimWaiting(waiting, workspace, agentId);
    await untilParked(waiting, 1);
    const jobId = await enqueueJob(other, workspace);
    assert.equal((await claim).jobId, jobId);
  },
);

const question = { prompt: 'Which way?', kind: 'choice', confidence: 0.1 } as const;

/** Counts the claims that leave a hub's waiters from now on and return to them. */
function countWaits(hub: Hub): () => number {
  const { waiters } = hub.deps;
  const wait = waiters.wait.bind(waiters);
  let count = 0;
  waiters.wait = (...args) => {
    count += 1;
    return wait(...args);
  };
  return () => count;
}
