import assert from 'node:assert/strict';
import test from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { agents, jobs } = endpoints;

const unknown = { code: 'tool_error', retryable: true, occurrencesMax: 3 };

test('an unknown failure is final when it has ended as many attempts as it says', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 10 });
  const fail = async (outcomeReason: object) => {
    await h.claim();
    return (await h.complete(jobId, { outcome: 'failed', outcomeReason })).result.status;
  };
  assert.equal(await fail(unknown), 'pending');
  // Another failure between them is not counted, nor are its words.
  const other = { code: 'provider_busy', retryable: true, summary: '"code":"tool_error"' };
  assert.equal(await fail({ ...other, details: { code: 'tool_error' } }), 'pending');
  assert.equal(await fail(unknown), 'pending');
  assert.equal(await fail(unknown), 'failed');
  assert.equal((await h.get(jobId)).job.attempt, 4);
});

test('a code with signs of a pattern is counted as it is', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 10 });
  const codes = ['toolXerror', 'tool_error', 'to%', 'to!_', 'tool_error'];
  const statuses: string[] = [];
  for (const code of codes) {
    await h.claim();
    const outcomeReason = { code, retryable: true, occurrencesMax: 2 };
    statuses.push((await h.complete(jobId, { outcome: 'failed', outcomeReason })).result.status);
  }
  assert.deepEqual(statuses, ['pending', 'pending', 'pending', 'pending', 'failed']);
});

test('the usage of a job is that of all its attempts', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const { job } = await h.claim();
  assert.equal(job?.usage, null);
  const retried = { code: 'usage_limit', retryable: true, spendsAttempt: false };
  const first = { inputTokens: 100, outputTokens: 10, costUsd: 0.25, model: 'small' };
  await h.complete(jobId, { outcome: 'failed', outcomeReason: retried, usage: first });
  assert.deepEqual((await h.claim()).job?.usage, first);
  const second = { inputTokens: 50, costUsd: 0.5, model: 'large' };
  const last = { outcome: 'done' as const, usage: second, claimGeneration: 2 };
  await h.complete(jobId, last);
  const expected = {
    inputTokens: 150,
    outputTokens: 10,
    costUsd: 0.75,
    model: 'large',
    models: [first, second],
  };
  assert.deepEqual((await h.get(jobId)).job.usage, expected);
  // A completion that is sent again adds nothing.
  assert.equal((await h.complete(jobId, last)).result.idempotent, true);
  assert.deepEqual((await h.get(jobId)).job.usage, expected);
});

test('a retry by a person keeps what the job has used', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  await h.claim();
  await h.complete(jobId, { outcome: 'failed', usage: { costUsd: 0.25 } });
  await h.call(jobs.retry, { workspaceId, jobId });
  assert.deepEqual((await h.claim()).job?.usage, { costUsd: 0.25 });
});

test('a canceled job keeps what its attempt has used, once', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  await h.claim();
  await h.call(jobs.cancel, { workspaceId, jobId });
  const completion = {
    outcome: 'failed' as const,
    message: 'The job was canceled.',
    outcomeReason: { code: 'canceled' },
    usage: { inputTokens: 100 },
    claimGeneration: 1,
  };
  await assert.rejects(h.complete(jobId, completion), /JOB_CANCELED/);
  await assert.rejects(h.complete(jobId, completion), /JOB_CANCELED/);
  const { job } = await h.get(jobId);
  assert.equal(job.status, 'canceled');
  assert.deepEqual(job.usage, { inputTokens: 100 });
  const kinds = (await h.timeline(jobId)).map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(-2), ['heartbeat', 'canceled']);
});

test('a pause of one account is that of its repositories alone', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const { repoId: other } = await h.call(endpoints.repositories.upsert, {
    workspaceId,
    remoteUrlHash: 'e'.repeat(64),
    label: 'other',
  });
  const { jobId } = await h.enqueue();
  const { jobId: otherId } = await h.call(jobs.enqueue, {
    workspaceId,
    repoId: other,
    kind: 'work',
    prompt: 'Do it.',
  });
  const until = new Date(h.clock.nowMs() + 20_000).toISOString();
  const pause = { code: 'usage_limit', message: 'The limit of the week.', until };
  await h.call(agents.heartbeat, {
    workspaceId,
    machineFingerprint: 'first',
    displayName: 'first',
    capabilities: {
      canWrite: true,
      reposAllowed: [repoId, other],
      pauses: [{ ...pause, tool: 'claude', repoIds: [repoId] }],
    },
  });
  const waiting = (await h.get(jobId)).waitingFor;
  assert.deepEqual([waiting?.reason, waiting?.until], ['agents_paused', until]);
  assert.equal((await h.get(otherId)).waitingFor?.reason, 'queue_position');
  const listed = await h.call(jobs.list, {
    workspaceId,
    view: 'summary' as const,
    fields: ['waitingReason' as const],
  });
  const reasons = new Map(listed.jobs.map((job) => [job.jobId, job.waitingReason]));
  assert.deepEqual([reasons.get(jobId), reasons.get(otherId)], ['agents_paused', 'queue_position']);
  h.clock.advance(20_000);
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'queue_position');
});
