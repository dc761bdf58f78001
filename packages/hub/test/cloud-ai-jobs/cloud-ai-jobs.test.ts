import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { readEntry } from '../../src/queue/store.ts';
import { startCloudAiWorld } from '../support/cloud-ai-world.ts';

const { cloudAiJobs, agents, jobs, queue } = endpoints;

test('a cloud AI job is claimed, renewed and completed with its result and usage', async (t) => {
  const h = await startCloudAiWorld(t);
  const id = await h.enqueue({ model: 'sonnet', priority: 3, maxAttempts: 2 });
  const claimed = await h.claim({ leaseMs: 5_000 });
  assert.equal(claimed.cloudAiJobId, id);
  assert.equal(claimed.claimGeneration, 1);
  assert.equal(Date.parse(claimed.leaseExpiresAt ?? ''), h.clock.nowMs() + 5_000);
  assert.equal(claimed.cloudAiJob?.status, 'running');
  assert.equal('jobToken' in claimed, false);
  const ref = { workspaceId: h.workspaceId, cloudAiJobId: id, agentId: h.agentId };
  const renewed = await h.call(cloudAiJobs.heartbeat, {
    ...ref,
    leaseMs: 9_000,
    message: 'Asking.',
  });
  assert.equal(Date.parse(renewed.leaseExpiresAt), h.clock.nowMs() + 9_000);
  assert.equal((await h.get(id)).message, 'Asking.');
  const usage = { inputTokens: 5, outputTokens: 2, model: 'sonnet' };
  const { result, cloudAiJob } = await h.complete(id, { usage });
  assert.deepEqual(result, {
    cloudAiJobId: id,
    status: 'done',
    outcome: 'done',
    idempotent: false,
  });
  assert.deepEqual(cloudAiJob, await h.get(id));
  assert.deepEqual(cloudAiJob.result, { text: 'Yes.' });
  assert.deepEqual(cloudAiJob.usage, usage);
  assert.equal(cloudAiJob.leaseExpiresAt, null);
});

test('the two queues are separate: neither hands out jobs of the other', async (t) => {
  const h = await startCloudAiWorld(t);
  const { workspaceId, repoId } = h.home;
  await h.enqueue();
  const none = await h.call(jobs.claimNext, { workspaceId, agentId: h.agentId });
  assert.equal(none.reason, 'no_pending_jobs');
  assert.ok((await h.claim()).cloudAiJobId);
  await h.call(jobs.enqueue, {
    workspaceId,
    repoId,
    kind: 'work',
    prompt: 'Do it.',
    requirements: { canWrite: false },
  });
  assert.equal((await h.claim()).reason, 'no_pending_jobs');
});

test('a job that names a model goes only to agents with that model, and a claim may name further models', async (t) => {
  const h = await startCloudAiWorld(t);
  const id = await h.enqueue({ model: 'opus' });
  assert.equal((await h.claim()).reason, 'no_matching_capabilities');
  assert.equal((await h.claim({ models: [] })).reason, 'no_matching_capabilities');
  assert.equal((await h.claim({ models: ['haiku', 'opus'] })).cloudAiJobId, id);
  const any = await h.enqueue();
  assert.equal((await h.claim({ models: [] })).cloudAiJobId, any);
});

test('kinds limit what a claim may be given', async (t) => {
  const h = await startCloudAiWorld(t);
  const id = await h.enqueue({ kind: 'translate' });
  assert.equal((await h.claim({ kinds: ['ask'] })).reason, 'no_pending_jobs');
  assert.equal((await h.claim({ kinds: ['ask', 'translate'] })).cloudAiJobId, id);
});

test('an agent that is draining, at capacity or in a paused workspace gets no job', async (t) => {
  const h = await startCloudAiWorld(t);
  const { workspaceId } = h;
  await h.enqueue();
  await h.enqueue();
  const full = await h.addAgent(h.home, 'full', { maxConcurrentJobs: 1 });
  assert.ok((await h.claim({ agentId: full })).cloudAiJobId);
  assert.equal((await h.claim({ agentId: full })).reason, 'agent_at_capacity');
  await h.call(queue.pause, { workspaceId });
  assert.equal((await h.claim()).reason, 'queue_paused');
  await h.call(queue.resume, { workspaceId });
  await h.call(agents.heartbeat, {
    workspaceId,
    machineFingerprint: 'executor',
    displayName: 'executor',
    capabilities: {},
    status: 'draining',
  });
  assert.equal((await h.claim()).reason, 'agent_draining');
});

test('a waiting claim is answered only when a matching job arrives', async (t) => {
  const h = await startCloudAiWorld(t);
  const { waiters } = h.hub.deps;
  const waiting = h.claim({ waitMs: 60_000, kinds: ['ask'] });
  while (waiters.count === 0) await new Promise(setImmediate);
  await h.enqueue({ kind: 'translate' });
  await h.enqueue({ model: 'opus' });
  assert.equal(waiters.count, 1, 'jobs that do not match wake no claim');
  const id = await h.enqueue();
  assert.equal((await waiting).cloudAiJobId, id);
});

test('a claim repeated under its key gets the same job and generation', async (t) => {
  const h = await startCloudAiWorld(t);
  await h.enqueue();
  const first = await h.claim({ claimKey: 'k1' });
  const again = await h.claim({ claimKey: 'k1' });
  assert.equal(again.cloudAiJobId, first.cloudAiJobId);
  assert.equal(again.claimGeneration, 1);
});

test('a lost lease leads to another attempt, and the lost attempt is fenced', async (t) => {
  const h = await startCloudAiWorld(t);
  const id = await h.enqueue();
  await h.claim({ leaseMs: 1_000 });
  h.clock.advance(1_000);
  await h.hub.loops.sweeper.runOnce();
  assert.equal((await h.get(id)).status, 'pending');
  const second = await h.addAgent(h.home, 'second');
  assert.equal((await h.claim({ agentId: second })).claimGeneration, 2);
  const late = { workspaceId: h.workspaceId, cloudAiJobId: id, agentId: h.agentId };
  await h.refuse(cloudAiJobs.heartbeat, late, 'LEASE_LOST');
  const result = { ...late, outcome: 'done' as const };
  await h.refuse(cloudAiJobs.complete, result, 'LEASE_LOST');
  await h.refuse(
    cloudAiJobs.complete,
    { ...result, claimGeneration: 1 },
    'CLAIM_GENERATION_MISMATCH',
  );
  assert.equal((await h.complete(id, { agentId: second })).cloudAiJob.agentId, second);
});

test('an agent that waits at capacity gets a job when its own lost lease frees capacity', async (t) => {
  const h = await startCloudAiWorld(t);
  const agentId = await h.addAgent(h.home, 'restarted', { maxConcurrentJobs: 1 });
  const id = await h.enqueue();
  await h.claim({ agentId, leaseMs: 1_000 });
  const waiting = h.claim({ agentId, waitMs: 60_000 });
  while (h.hub.deps.waiters.count === 0) await new Promise(setImmediate);
  h.clock.advance(1_000);
  await h.hub.loops.sweeper.runOnce();
  const again = await waiting;
  assert.deepEqual([again.cloudAiJobId, again.claimGeneration], [id, 2]);
});

test('a job without attempts left fails, no matter which request detects it', async (t) => {
  const h = await startCloudAiWorld(t);
  const { workspaceId, repoId } = h.home;
  const bySweeper = await h.enqueue({ maxAttempts: 1 });
  await h.claim({ leaseMs: 1_000 });
  h.clock.advance(1_000);
  await h.hub.loops.sweeper.runOnce();
  const byClaimOfJob = await h.enqueue({ maxAttempts: 1 });
  await h.claim({ leaseMs: 1_000 });
  h.clock.advance(1_000);
  await h.call(jobs.claimNext, { workspaceId, agentId: h.agentId, repoIds: [repoId] });
  for (const id of [bySweeper, byClaimOfJob]) {
    const job = await h.get(id);
    assert.equal(job.status, 'failed');
    assert.equal(job.outcome, 'failed');
    assert.equal(job.message, 'attempts_exhausted: all 1 attempts lost their lease.');
    assert.ok(job.finishedAt);
  }
});

test('a lost lease of an ordinary job that a cloud AI claim detects is recorded in its timeline', async (t) => {
  const h = await startCloudAiWorld(t);
  const { workspaceId, repoId } = h.home;
  const draft = { workspaceId, repoId, kind: 'work' as const, prompt: 'Do it.' };
  const { jobId } = await h.call(jobs.enqueue, { ...draft, requirements: { canWrite: false } });
  await h.call(jobs.claimNext, { workspaceId, agentId: h.agentId, leaseMs: 1_000 });
  h.clock.advance(1_000);
  await h.claim();
  const { events } = await h.call(endpoints.jobEvents.listForJob, { workspaceId, jobId });
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['enqueued', 'claimed', 'recovered'],
  );
});

test('a completion is accepted once; its replay gets the same answer, another is refused', async (t) => {
  const h = await startCloudAiWorld(t);
  const id = await h.enqueue();
  await h.claim();
  const first = await h.complete(id);
  const again = await h.complete(id);
  assert.deepEqual(again, { ...first, result: { ...first.result, idempotent: true } });
  const other = { workspaceId: h.workspaceId, cloudAiJobId: id, agentId: h.agentId };
  await h.refuse(cloudAiJobs.complete, { ...other, outcome: 'failed' }, 'JOB_ALREADY_FINISHED');
  await h.refuse(cloudAiJobs.heartbeat, other, 'JOB_ALREADY_FINISHED');
});

test('a failed completion keeps its message and result', async (t) => {
  const h = await startCloudAiWorld(t);
  const id = await h.enqueue();
  await h.claim();
  await h.complete(id, { outcome: 'failed', message: 'The model refused.', result: {} });
  const job = await h.get(id);
  assert.deepEqual([job.status, job.message], ['failed', 'The model refused.']);
});

test('a result without the requested JSON is refused, and the lease is kept', async (t) => {
  const h = await startCloudAiWorld(t);
  const id = await h.enqueue({ responseSchema: { type: 'object' } });
  const claimed = await h.claim();
  assert.deepEqual(claimed.cloudAiJob?.responseSchema, { type: 'object' });
  const body = { workspaceId: h.workspaceId, cloudAiJobId: id, agentId: h.agentId };
  const refused = await h.refuse(
    cloudAiJobs.complete,
    { ...body, outcome: 'done', result: { text: '{}' } },
    'INVALID_REQUEST',
  );
  assert.deepEqual(refused.details?.[0]?.path, '/result/json');
  assert.equal((await h.get(id)).status, 'running');
  const { cloudAiJob } = await h.complete(id, { result: { json: { a: null } } });
  assert.deepEqual(cloudAiJob.result, { json: { a: null } });
});

test('the completion of a canceled job is refused and ends it', async (t) => {
  const h = await startCloudAiWorld(t);
  const { database, deps } = h.hub;
  const { workspaceId, agentId } = h;
  const id = await h.enqueue();
  await h.claim();
  await database.write(null, async (tx) => {
    const entry = await readEntry(tx, workspaceId, id);
    assert.ok(entry);
    await deps.queue.cancel(tx, entry);
  });
  const ref = { workspaceId, cloudAiJobId: id, agentId };
  assert.equal((await h.call(cloudAiJobs.heartbeat, ref)).cancelRequested, true);
  await h.refuse(cloudAiJobs.complete, { ...ref, outcome: 'done' }, 'JOB_CANCELED');
  assert.equal((await h.get(id)).status, 'canceled');
});
