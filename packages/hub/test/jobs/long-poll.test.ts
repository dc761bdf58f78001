import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { releaseJob } from '../../src/jobs/release.ts';
import { developmentPrincipal } from '../../src/tokens/authenticate-bearer.ts';
import { type HomeWorld, startHomeWorld } from '../support/home-world.ts';

const { jobs, agents, queue, repositories } = endpoints;
const WAIT_MS = 60_000;

async function setupLongPoll(t: TestContext) {
  const harness = await startHomeWorld(t);
  const { workspaceId, repoId } = harness.home;
  const agentId = await harness.addAgent(harness.home, 'first');
  const claim = (of = agentId) =>
    harness.call(jobs.claimNext, { workspaceId, agentId: of, waitMs: WAIT_MS });
  const enqueue = () =>
    harness.call(jobs.enqueue, { workspaceId, repoId, kind: 'work', prompt: 'Do it.' });
  return { ...harness, workspaceId, repoId, agentId, claim, enqueue };
}

/** Resolves once so many claims are parked; each turn lets the hub's own work run. */
async function untilParked({ hub }: Pick<HomeWorld, 'hub'>, count: number): Promise<void> {
  while (hub.deps.waiters.count !== count) await new Promise((resolve) => setImmediate(resolve));
}

test('a waiting claim gets the job that arrives', async (t) => {
  const h = await setupLongPoll(t);
  const waiting = h.claim();
  await untilParked(h, 1);
  const { jobId } = await h.enqueue();
  assert.equal((await waiting).jobId, jobId);
});

test('a waiting claim gets the job whose dependency another agent completes', async (t) => {
  const h = await setupLongPoll(t);
  const { workspaceId, repoId, agentId } = h;
  const { jobId: first } = await h.enqueue();
  await h.claim();
  const { jobId: next } = await h.call(jobs.enqueue, {
    workspaceId,
    repoId,
    kind: 'work',
    prompt: 'Then this.',
    dependsOn: [first],
  });
  const waiting = h.claim(await h.addAgent(h.home, 'second'));
  await untilParked(h, 1);
  await h.call(jobs.complete, { workspaceId, jobId: first, agentId, outcome: 'done' });
  assert.equal((await waiting).jobId, next);
});

test('each of 50 waiting claims gets one of 50 jobs', async (t) => {
  const h = await setupLongPoll(t);
  const waiting = Array.from({ length: 50 }, () => h.claim());
  await untilParked(h, 50);
  const enqueued = await Promise.all(Array.from({ length: 50 }, () => h.enqueue()));
  const claimed = await Promise.all(waiting);
  assert.deepEqual(
    new Set(claimed.map((answer) => answer.jobId)),
    new Set(enqueued.map((answer) => answer.jobId)),
  );
});

test('a job that does not match the first waiting agent goes to the next', async (t) => {
  const h = await setupLongPoll(t);
  const first = h.claim();
  await untilParked(h, 1);
  const second = await h.addAgent(h.home, 'second');
  const other = h.claim(second);
  await untilParked(h, 2);
  await h.call(agents.heartbeat, {
    workspaceId: h.workspaceId,
    machineFingerprint: 'first',
    status: 'draining',
    capabilities: { canWrite: true },
  });
  const { jobId } = await h.enqueue();
  assert.equal((await other).jobId, jobId);
  h.hub.deps.waiters.close();
  assert.equal((await first).reason, 'agent_draining');
});

test('a waiting claim of an agent at capacity is answered when it completes a job', async (t) => {
  const h = await setupLongPoll(t);
  const { workspaceId } = h;
  const capabilities = { canWrite: true, maxConcurrentJobs: 1 };
  const agentId = await h.addAgent(h.home, 'one', capabilities);
  const { jobId } = await h.enqueue();
  const { jobId: next } = await h.enqueue();
  await h.claim(agentId);
  const waiting = h.claim(agentId);
  await untilParked(h, 1);
  await h.call(jobs.complete, { workspaceId, jobId, agentId, outcome: 'done' });
  assert.equal((await waiting).jobId, next);
});

test('a waiting claim of an agent at capacity is answered when a person releases its job', async (t) => {
  const h = await setupLongPoll(t);
  const { workspaceId } = h;
  const capabilities = { canWrite: true, maxConcurrentJobs: 1 };
  const agentId = await h.addAgent(h.home, 'one', capabilities);
  const { jobId } = await h.enqueue();
  await h.claim(agentId);
  const waiting = h.claim(agentId);
  await untilParked(h, 1);
  await releaseJob(h.hub.deps, developmentPrincipal(), { workspaceId, jobId });
  const again = await waiting;
  assert.equal(again.jobId, jobId);
  assert.equal(again.claimGeneration, 2);
});

test('a waiting claim is answered when the queue is resumed or its agent serves another repository', async (t) => {
  const h = await setupLongPoll(t);
  const { workspaceId, repoId } = h;
  await h.call(queue.pause, { workspaceId });
  const { jobId } = await h.enqueue();
  const paused = h.claim();
  await untilParked(h, 1);
  await h.call(queue.resume, { workspaceId });
  assert.equal((await paused).jobId, jobId);
  const token = await h.mintToken(workspaceId, 'other');
  const agentId = await h.addAgent({ ...h.home, token }, 'other');
  const { jobId: second } = await h.enqueue();
  const unserved = h.call(jobs.claimNext, { workspaceId, agentId, waitMs: WAIT_MS }, token);
  await untilParked(h, 1);
  await h.call(repositories.get, { workspaceId, repoId }, token);
  assert.equal((await unserved).jobId, second);
});

test('a claim whose client disconnected takes no job', async (t) => {
  const h = await setupLongPoll(t);
  const gone = request(h.hub.baseUrl + jobs.claimNext.path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${h.home.token}`,
    },
  });
  gone.on('error', () => undefined);
  gone.end(JSON.stringify({ workspaceId: h.workspaceId, agentId: h.agentId, waitMs: WAIT_MS }));
  await untilParked(h, 1);
  gone.destroy();
  await new Promise((resolve) => gone.once('close', resolve));
  await untilParked(h, 0);
  const { jobId } = await h.enqueue();
  assert.equal((await h.claim()).jobId, jobId);
});

test('a stop answers waiting claims, finishes the requests in progress and then refuses', async (t) => {
  const h = await setupLongPoll(t);
  const waiting = h.claim();
  await untilParked(h, 1);
  const stopped = h.hub.stop();
  assert.equal((await waiting).reason, 'no_pending_jobs');
  await stopped;
  await assert.rejects(h.enqueue());
});
