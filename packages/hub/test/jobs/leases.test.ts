import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, type Job } from '@signalbox/contract';
import { addRun } from '../support/context-world.ts';
import { ensureRun } from '../support/decision-world.ts';
import { kindsOf, startQueueWorld } from '../support/queue-world.ts';

const { jobs } = endpoints;

test('an expired lease is reclaimed by the sweeper, its generation rises, and the old one is fenced', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 1_000 });
  h.clock.advance(1_001);
  await h.hub.loops.sweeper.runOnce();
  assert.equal((await h.get(jobId)).job.status, 'pending');
  const late = { workspaceId: h.workspaceId, jobId, agentId: h.agentId };
  await h.refuse(jobs.heartbeat, late, 'LEASE_LOST');
  const second = await h.addAgent(h.home, 'second');
  const again = await h.claim({ agentId: second });
  assert.equal(again.claimGeneration, 2);
  await h.refuse(jobs.heartbeat, late, 'LEASE_LOST');
  await h.refuse(jobs.heartbeat, { ...late, claimGeneration: 1 }, 'CLAIM_GENERATION_MISMATCH');
  await h.refuse(
    jobs.complete,
    { ...late, outcome: 'done', claimGeneration: 1, message: 'I was slow.' },
    'CLAIM_GENERATION_MISMATCH',
  );
  const events = await h.timeline(jobId);
  assert.deepEqual(kindsOf(events), ['enqueued', 'claimed', 'recovered', 'claimed', 'log']);
  assert.equal(events[2]?.agentId, h.agentId);
  const kept = events[4];
  assert.equal(kept?.message, 'I was slow.');
  assert.equal(kept?.data?.late, true);
  assert.equal(kept?.attempt, 1);
  assert.equal((await h.complete(jobId, { agentId: second })).result.status, 'done');
});

test('what comes with a generation that no attempt has had is kept with the latest one', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const invented = { claimGeneration: Number.MAX_SAFE_INTEGER, message: 'I made it up.' };
  await h.refuse(
    jobs.complete,
    { workspaceId: h.workspaceId, jobId, agentId: h.agentId, outcome: 'done', ...invented },
    'CLAIM_GENERATION_MISMATCH',
  );
  const kept = (await h.timeline(jobId)).at(-1);
  assert.deepEqual([kept?.message, kept?.attempt], ['I made it up.', 1]);
});

test('an expired lease is reclaimed by a claim, without the sweeper', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 1_000 });
  h.clock.advance(1_000);
  const again = await h.claim();
  assert.equal(again.jobId, jobId);
  assert.equal(again.claimGeneration, 2);
});

test('a late heartbeat or completion before anyone reclaimed is accepted', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const { claimGeneration } = await h.claim({ leaseMs: 1_000 });
  assert.equal(claimGeneration, 1);
  await h.hub.loops.sweeper.stop();
  h.clock.advance(5_000);
  const { leaseExpiresAt } = await h.call(jobs.heartbeat, {
    workspaceId: h.workspaceId,
    jobId,
    agentId: h.agentId,
    leaseMs: 1_000,
  });
  assert.equal(Date.parse(leaseExpiresAt), h.clock.nowMs() + 1_000);
  assert.equal((await h.complete(jobId)).result.status, 'done');
});

test('a heartbeat never shortens the lease unless asked to', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const { leaseExpiresAt } = await h.claim({ leaseMs: 60_000 });
  const beat = { workspaceId: h.workspaceId, jobId, agentId: h.agentId, leaseMs: 1_000 };
  assert.equal((await h.call(jobs.heartbeat, beat)).leaseExpiresAt, leaseExpiresAt);
  const shortened = await h.call(jobs.heartbeat, { ...beat, shorten: true });
  assert.equal(Date.parse(shortened.leaseExpiresAt), h.clock.nowMs() + 1_000);
});

test('heartbeats without a message update one event of the attempt', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const beat = { workspaceId: h.workspaceId, jobId, agentId: h.agentId };
  for (let i = 0; i < 5; i++) {
    h.clock.advance(100);
    await h.call(jobs.heartbeat, beat);
  }
  await h.call(jobs.heartbeat, { ...beat, message: 'Half way.' });
  await h.call(jobs.heartbeat, beat);
  const beats = (await h.timeline(jobId)).filter((event) => event.kind === 'heartbeat');
  assert.deepEqual(
    beats.map((event) => [event.message, event.data?.count]),
    [
      [null, 6],
      ['Half way.', undefined],
    ],
  );
});

test('a job without attempts left fails with attempts_exhausted', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 2 });
  for (const generation of [1, 2]) {
    assert.equal((await h.claim({ leaseMs: 1_000 })).claimGeneration, generation);
    h.clock.advance(1_000);
    await h.hub.loops.sweeper.runOnce();
  }
  const { job } = await h.get(jobId);
  assert.equal(job.status, 'failed');
  assert.equal(job.outcome, 'failed');
  assert.partialDeepStrictEqual(job.outcomeReason, {
    code: 'attempts_exhausted',
    retryable: false,
  });
  assert.equal((await h.claim()).reason, 'no_pending_jobs');
});

test('the replay of an accepted completion gets the same answer, and a different body is refused', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const first = await h.complete(jobId, { message: 'One.' });
  const replay = await h.complete(jobId, { message: 'One.' });
  assert.deepEqual(replay.result, { ...first.result, idempotent: true });
  assert.deepEqual(replay.job, first.job);
  const other = { workspaceId: h.workspaceId, jobId, agentId: h.agentId };
  await h.refuse(jobs.complete, { ...other, outcome: 'failed' }, 'JOB_ALREADY_FINISHED');
  await h.refuse(jobs.heartbeat, other, 'JOB_ALREADY_FINISHED');
});

test('of 50 concurrent completions one is accepted, its replays agree and the rest are refused', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      h.send(jobs.complete.path, {
        workspaceId: h.workspaceId,
        jobId,
        agentId: h.agentId,
        outcome: 'done',
        message: `Result ${i % 2}.`,
      }),
    ),
  );
  const accepted = replies.filter((reply) => reply.status === 200);
  const messages = new Set(accepted.map(({ body }) => (body.job as { message: string }).message));
  assert.equal(messages.size, 1);
  assert.equal(accepted.length, 25);
  const fresh = accepted.filter(({ body }) => !(body.result as { idempotent: boolean }).idempotent);
  assert.equal(fresh.length, 1);
  const completed = (await h.timeline(jobId)).filter((event) => event.kind === 'completed');
  assert.equal(completed.length, 1);
});

test('a retryable outcome makes the job pending after its delay while attempts remain', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 2 });
  await h.claim();
  const outcomeReason = { code: 'rate_limited', retryable: true, recommendedDelayMs: 5_000 };
  const { result } = await h.complete(jobId, { outcome: 'failed', outcomeReason });
  assert.equal(result.status, 'pending');
  assert.equal((await h.claim()).reason, 'waiting_on_dependencies');
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'not_yet_available');
  h.clock.advance(5_000);
  assert.equal((await h.claim()).claimGeneration, 2);
  const last = await h.complete(jobId, { outcome: 'failed', outcomeReason });
  assert.equal(last.result.status, 'failed');
});

test('an attempt that is not spent leaves the job as many attempts as before', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 1 });
  const outcomeReason = { code: 'usage_limit', retryable: true, spendsAttempt: false };
  for (const generation of [1, 2, 3]) {
    assert.equal((await h.claim()).claimGeneration, generation);
    const { result } = await h.complete(jobId, { outcome: 'failed', outcomeReason });
    assert.equal(result.status, 'pending');
  }
  assert.equal((await h.get(jobId)).job.maxAttempts, 4);
  await h.claim();
  const spent = { ...outcomeReason, spendsAttempt: true };
  const last = await h.complete(jobId, { outcome: 'failed', outcomeReason: spent });
  assert.equal(last.result.status, 'failed');
});

test('an attempt that is not retryable is final, spent or not', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 5 });
  await h.claim();
  const outcomeReason = { code: 'refused', spendsAttempt: false };
  const { result } = await h.complete(jobId, { outcome: 'failed', outcomeReason });
  assert.equal(result.status, 'failed');
});

/** The fields of a job that tell how an attempt ended. */
const resultOf = ({ outcome, outcomeReason, message, evidence, usage, changed, verdict }: Job) => ({
  outcome,
  outcomeReason,
  message,
  evidence,
  usage,
  changed,
  verdict,
});
const failure = {
  outcome: 'failed' as const,
  message: 'The build is red.',
  evidence: { commitSha: 'abc', changedFiles: ['a.ts'] },
  usage: { inputTokens: 10 },
};
/** The usage stays: it is that of all attempts. */
const noResult = {
  outcome: null,
  outcomeReason: null,
  message: null,
  evidence: null,
  usage: failure.usage,
  changed: null,
  verdict: null,
};

test('a job that a retryable outcome makes pending shows nothing of the attempt; its timeline does', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 2 });
  await h.claim();
  const outcomeReason = { code: 'rate_limited', retryable: true };
  const { job } = await h.complete(jobId, { ...failure, outcomeReason });
  assert.deepEqual(resultOf(job), noResult);
  assert.deepEqual(resultOf((await h.get(jobId)).job), noResult);
  const event = (await h.timeline(jobId)).at(-1);
  assert.equal(event?.message, failure.message);
  assert.partialDeepStrictEqual(event?.data, { outcomeReason, evidence: failure.evidence });
  await h.claim();
  const last = await h.complete(jobId, { ...failure, outcomeReason });
  const usage = { inputTokens: 20 };
  assert.partialDeepStrictEqual(last.job, { ...failure, usage, outcomeReason });
});

test('a completion puts a job without a run into the run that it names, and no other job', async (t) => {
  const h = await startQueueWorld(t);
  const [first, second] = [await ensureRun(h), await addRun(h, h.home, 'Another.', 'another')];
  const { jobId: loose } = await h.enqueue();
  await h.claim();
  assert.equal((await h.complete(loose, { runId: first })).job.runId, first);
  assert.equal((await h.get(loose)).job.runId, first);
  const { jobId: bound } = await h.enqueue({ runId: first });
  await h.claim();
  assert.equal((await h.complete(bound, { runId: second })).job.runId, first);
});

test('a retried job shows nothing of the attempt that failed', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  await h.complete(jobId, { ...failure, outcomeReason: 'Red.' });
  const { job } = await h.call(jobs.retry, { workspaceId: h.workspaceId, jobId });
  assert.deepEqual(resultOf(job), noResult);
  assert.deepEqual(resultOf((await h.get(jobId)).job), noResult);
});

test('children of an outcome that is retried are enqueued with the last attempt only', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ maxAttempts: 2, priority: 9 });
  const children = [{ kind: 'git_repair' as const, prompt: 'Mend the branch.' }];
  const end = { outcome: 'failed' as const, outcomeReason: { retryable: true }, children };
  await h.claim();
  assert.deepEqual((await h.complete(jobId, end)).result.spawnedJobIds, []);
  assert.equal((await h.claim()).jobId, jobId);
  const { result } = await h.complete(jobId, end);
  assert.equal(result.spawnedJobIds.length, 1);
  const { jobs: all } = await h.call(jobs.list, { workspaceId: h.workspaceId });
  assert.equal(all.length, 2);
});
