import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { kindsOf, startQueueWorld } from '../support/queue-world.ts';

const { jobs } = endpoints;

test('a job goes from enqueue to done, with its timeline', async (t) => {
  const { enqueue, claim, complete, timeline, agentId } = await startQueueWorld(t);
  const { jobId, job } = await enqueue();
  assert.equal(job.status, 'pending');
  const claimed = await claim({ leaseMs: 5_000 });
  assert.equal(claimed.jobId, jobId);
  assert.equal(claimed.claimGeneration, 1);
  assert.equal(claimed.job?.agentId, agentId);
  assert.match(claimed.jobToken ?? '', /^sbx_j_/);
  const evidence = { commitSha: 'abc', changedFiles: ['a', 'b'] };
  const { result, job: done } = await complete(jobId, { evidence, message: 'Done.' });
  assert.deepEqual(result, {
    jobId,
    status: 'done',
    outcome: 'done',
    idempotent: false,
    spawnedJobIds: [],
  });
  assert.deepEqual(done.evidence, evidence);
  assert.equal(done.leaseExpiresAt, null);
  assert.deepEqual(kindsOf(await timeline(jobId)), ['enqueued', 'claimed', 'completed']);
});

test('jobs go by priority, then first in, first out, and ten minutes of waiting add a point', async (t) => {
  const { enqueue, claim, complete, clock } = await startQueueWorld(t);
  const { jobId: old } = await enqueue();
  clock.advance(1);
  const { jobId: younger } = await enqueue();
  const { jobId: urgent } = await enqueue({ priority: 1 });
  assert.equal((await claim()).jobId, urgent);
  await complete(urgent);
  clock.advance(10 * 60 * 1_000 + 1);
  await enqueue({ priority: 1 });
  assert.equal((await claim()).jobId, old);
  assert.equal((await claim()).jobId, younger);
});

test('jobs enqueued within one millisecond keep their order', async (t) => {
  const { enqueue, claim } = await startQueueWorld(t);
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push((await enqueue()).jobId);
  const claimed: (string | null)[] = [];
  for (let i = 0; i < 20; i++) claimed.push((await claim()).jobId);
  assert.deepEqual(claimed, ids);
});

test('of 64 concurrent claims one gets the only job', async (t) => {
  const harness = await startQueueWorld(t);
  const { workspaceId, home } = harness;
  const agentIds = await Promise.all(
    Array.from({ length: 64 }, (_, i) => harness.addAgent(home, `agent ${i}`)),
  );
  const { jobId } = await harness.enqueue();
  const answers = await Promise.all(
    agentIds.map((agentId) => harness.call(jobs.claimNext, { workspaceId, agentId })),
  );
  const winners = answers.filter((answer) => answer.jobId !== null);
  assert.deepEqual(
    winners.map((winner) => winner.jobId),
    [jobId],
  );
  for (const loser of answers.filter((answer) => answer.jobId === null)) {
    assert.equal(loser.reason, 'no_pending_jobs');
  }
});

test('64 concurrent claims get 64 different jobs', async (t) => {
  const { enqueue, claim } = await startQueueWorld(t);
  await Promise.all(Array.from({ length: 64 }, () => enqueue()));
  const answers = await Promise.all(Array.from({ length: 64 }, () => claim()));
  assert.equal(new Set(answers.map((answer) => answer.jobId)).size, 64);
});

test('a retry with the same claim key gets the same job, generation and token', async (t) => {
  const h = await startQueueWorld(t);
  await h.enqueue();
  await h.enqueue();
  const first = await h.claim({ claimKey: 'try-1' });
  const again = await h.claim({ claimKey: 'try-1' });
  assert.deepEqual(
    [again.jobId, again.claimGeneration, again.jobToken],
    [first.jobId, first.claimGeneration, first.jobToken],
  );
  assert.notEqual((await h.claim({ claimKey: 'try-2' })).jobId, first.jobId);
});
