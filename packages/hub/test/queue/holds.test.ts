import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { kindsOf, startQueueWorld } from '../support/queue-world.ts';

const { jobs } = endpoints;

test('children are enqueued with the completion, in the run and repository of their parent', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ priority: 5 });
  await h.claim();
  const { result } = await h.complete(jobId, {
    children: [
      { kind: 'work', prompt: 'First child.' },
      { kind: 'pr_review', prompt: 'Second child.', priority: 3 },
    ],
  });
  assert.equal(result.spawnedJobIds.length, 2);
  const [first, second] = result.spawnedJobIds;
  const { job } = await h.get(first ?? '');
  assert.equal(job.parentJobId, jobId);
  assert.equal(job.repoId, h.repoId);
  assert.equal(job.role, 'implementer');
  assert.equal((await h.claim()).jobId, second);
  const replay = await h.complete(jobId, {
    children: [
      { kind: 'work', prompt: 'First child.' },
      { kind: 'pr_review', prompt: 'Second child.', priority: 3 },
    ],
  });
  assert.deepEqual(replay.result.spawnedJobIds, result.spawnedJobIds);
});

test('a completion with an invalid child changes nothing', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const body = { workspaceId: h.workspaceId, jobId, agentId: h.agentId, outcome: 'done' as const };
  const children = [
    { kind: 'work' as const, prompt: 'Fine.' },
    { kind: 'work' as const, prompt: 'Lost.', repoId: 'repo_unknown' },
  ];
  await h.refuse(jobs.complete, { ...body, children }, 'INVALID_REQUEST');
  assert.equal((await h.get(jobId)).job.status, 'running');
  assert.equal((await h.call(jobs.list, { workspaceId: h.workspaceId })).jobs.length, 1);
});

test('a job waits for its dependencies and lists them', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId: first } = await h.enqueue();
  const { jobId: second } = await h.enqueue({ dependsOn: [first, first], priority: 9 });
  assert.deepEqual((await h.get(second)).waitingFor?.jobIds, [first]);
  assert.equal((await h.claim()).jobId, first);
  assert.equal((await h.claim()).reason, 'waiting_on_dependencies');
  await h.complete(first, { outcome: 'failed' });
  assert.match((await h.get(second)).waitingFor?.message ?? '', /Retry what failed/);
  await h.call(jobs.retry, { workspaceId: h.workspaceId, jobId: first });
  await h.claim();
  await h.complete(first);
  assert.equal((await h.claim()).jobId, second);
});

test('one job of a concurrency key runs at a time, across repositories and kinds', async (t) => {
  const h = await startQueueWorld(t);
  const concurrencyKey = 'deploy';
  const { jobId: a } = await h.enqueue({ concurrencyKey });
  const { jobId: b } = await h.enqueue({ concurrencyKey, kind: 'pr_review' });
  const { jobId: c } = await h.enqueue({ concurrencyKey, kind: 'git_repair' });
  const { jobId: free } = await h.enqueue();
  assert.equal((await h.claim()).jobId, a);
  assert.equal((await h.claim()).jobId, free);
  assert.equal((await h.claim()).reason, 'waiting_on_dependencies');
  assert.equal((await h.get(b)).waitingFor?.reason, 'concurrency_key');
  await h.complete(a);
  assert.equal((await h.claim()).jobId, b);
  assert.equal((await h.claim()).jobId, null);
  await h.complete(b);
  assert.equal((await h.claim()).jobId, c);
});

test('a concurrency key is free again when its job is canceled, lost or retried', async (t) => {
  const h = await startQueueWorld(t);
  const concurrencyKey = 'deploy';
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push((await h.enqueue({ concurrencyKey })).jobId);
  const [a, b, c, d] = ids as [string, string, string, string];
  assert.equal((await h.claim({ leaseMs: 1_000 })).jobId, a);
  assert.equal((await h.claim()).jobId, null);
  h.clock.advance(1_000);
  assert.equal((await h.claim()).jobId, a);
  await h.complete(a, { outcome: 'failed', outcomeReason: { retryable: true } });
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId: a });
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId: b });
  assert.equal((await h.claim()).jobId, c);
  await h.complete(c);
  assert.equal((await h.claim()).jobId, d);
});

test('a pending job is canceled at once, and a done one cannot be canceled', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const ref = { workspaceId: h.workspaceId, jobId };
  assert.equal((await h.call(jobs.cancel, ref)).job.status, 'canceled');
  assert.equal((await h.call(jobs.cancel, ref)).job.status, 'canceled');
  assert.equal((await h.claim()).jobId, null);
  assert.deepEqual(kindsOf(await h.timeline(jobId)), ['enqueued', 'canceled']);
  await h.refuse(jobs.retry, ref, 'JOB_CANCELED');
});

test('a cancel of a running job reaches its agent, and a later completion is refused', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 10_000 });
  const ref = { workspaceId: h.workspaceId, jobId };
  const { job } = await h.call(jobs.cancel, ref);
  assert.equal(job.status, 'running');
  assert.notEqual(job.cancelRequestedAt, null);
  const beat = await h.call(jobs.heartbeat, { ...ref, agentId: h.agentId, leaseMs: 60_000 });
  assert.equal(beat.cancelRequested, true);
  assert.deepEqual(beat.commands, [{ command: 'cancel-job', jobId }]);
  assert.equal(Date.parse(beat.leaseExpiresAt), h.clock.nowMs() + 10_000);
  const letGo = { ...ref, agentId: h.agentId, leaseMs: 1_000, shorten: true };
  const shortened = await h.call(jobs.heartbeat, letGo);
  assert.equal(Date.parse(shortened.leaseExpiresAt), h.clock.nowMs() + 1_000);
  await h.refuse(
    jobs.complete,
    { ...ref, agentId: h.agentId, outcome: 'done', evidence: { commitSha: 'abc' } },
    'JOB_CANCELED',
  );
  assert.equal((await h.get(jobId)).job.status, 'canceled');
  const events = await h.timeline(jobId);
  assert.deepEqual(kindsOf(events).slice(-2), ['log', 'canceled']);
});

test('a cancel that no agent confirms takes effect when the lease expires', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 1_000 });
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  h.clock.advance(1_000);
  await h.hub.loops.sweeper.runOnce();
  assert.equal((await h.get(jobId)).job.status, 'canceled');
});
