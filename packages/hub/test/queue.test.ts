import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { type SetupOptions, setup } from './harness.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';

const { jobs, jobEvents, agents, repositories, queue } = endpoints;

type EnqueueBody = Omit<RequestOf<typeof jobs.enqueue>, 'workspaceId' | 'repoId'>;

/** A hub with a standing clock, one agent that may do everything, and short words for the loop. */
async function setupQueue(t: TestContext, options: Omit<SetupOptions, 'clock'> = {}) {
  const clock: ManualClock = createManualClock();
  const harness = await setup(t, { ...options, clock });
  const { workspaceId, repoId } = harness.home;
  const agentId = await harness.addAgent(harness.home, 'first');
  const enqueue = (body: Partial<EnqueueBody> = {}) =>
    harness.call(jobs.enqueue, { workspaceId, repoId, kind: 'work', prompt: 'Do it.', ...body });
  const claim = (body: Partial<RequestOf<typeof jobs.claimNext>> = {}) =>
    harness.call(jobs.claimNext, { workspaceId, agentId, ...body });
  const complete = (jobId: string, body: Partial<RequestOf<typeof jobs.complete>> = {}) =>
    harness.call(jobs.complete, { workspaceId, jobId, agentId, outcome: 'done', ...body });
  const get = (jobId: string) => harness.call(jobs.get, { workspaceId, jobId });
  const timeline = async (jobId: string) => {
    const { events } = await harness.call(jobEvents.listForJob, { workspaceId, jobId });
    return events;
  };
  return {
    ...harness,
    clock,
    agentId,
    workspaceId,
    repoId,
    enqueue,
    claim,
    complete,
    get,
    timeline,
  };
}

const kindsOf = (events: { kind: string }[]) => events.map((event) => event.kind);

test('a job goes from enqueue to done, with its timeline', async (t) => {
  const { enqueue, claim, complete, timeline, agentId } = await setupQueue(t);
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

test('priority goes first, then first-in-first-out; ten minutes of waiting are worth a point', async (t) => {
  const { enqueue, claim, complete, clock } = await setupQueue(t);
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
  const { enqueue, claim } = await setupQueue(t);
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push((await enqueue()).jobId);
  const claimed: (string | null)[] = [];
  for (let i = 0; i < 20; i++) claimed.push((await claim()).jobId);
  assert.deepEqual(claimed, ids);
});

test('64 claimers on one job: one gets it', async (t) => {
  const harness = await setupQueue(t);
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

test('64 claimers on 64 jobs: each gets another', async (t) => {
  const { enqueue, claim } = await setupQueue(t);
  await Promise.all(Array.from({ length: 64 }, () => enqueue()));
  const answers = await Promise.all(Array.from({ length: 64 }, () => claim()));
  assert.equal(new Set(answers.map((answer) => answer.jobId)).size, 64);
});

test('an expired lease is reclaimed by the sweeper, its generation rises, and the old one is fenced', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 1_000 });
  h.clock.advance(1_001);
  await h.hub.loops[0]?.runOnce();
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
  assert.equal(kept?.data?.['late'], true);
  assert.equal(kept?.attempt, 1);
  assert.equal((await h.complete(jobId, { agentId: second })).result.status, 'done');
});

test('an expired lease is reclaimed by a claim, without the sweeper', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 1_000 });
  h.clock.advance(1_000);
  const again = await h.claim();
  assert.equal(again.jobId, jobId);
  assert.equal(again.claimGeneration, 2);
});

test('a late heartbeat or completion before anyone reclaimed is accepted', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  const { claimGeneration } = await h.claim({ leaseMs: 1_000 });
  assert.equal(claimGeneration, 1);
  await h.hub.loops[0]?.stop();
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
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  const { leaseExpiresAt } = await h.claim({ leaseMs: 60_000 });
  const beat = { workspaceId: h.workspaceId, jobId, agentId: h.agentId, leaseMs: 1_000 };
  assert.equal((await h.call(jobs.heartbeat, beat)).leaseExpiresAt, leaseExpiresAt);
  const shortened = await h.call(jobs.heartbeat, { ...beat, shorten: true });
  assert.equal(Date.parse(shortened.leaseExpiresAt), h.clock.nowMs() + 1_000);
});

test('heartbeats without a message fold into one event of the attempt', async (t) => {
  const h = await setupQueue(t);
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
    beats.map((event) => [event.message, event.data?.['count']]),
    [
      [null, 6],
      ['Half way.', undefined],
    ],
  );
});

test('attempts that run out make the job fail with attempts_exhausted', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue({ maxAttempts: 2 });
  for (const generation of [1, 2]) {
    assert.equal((await h.claim({ leaseMs: 1_000 })).claimGeneration, generation);
    h.clock.advance(1_000);
    await h.hub.loops[0]?.runOnce();
  }
  const { job } = await h.get(jobId);
  assert.equal(job.status, 'failed');
  assert.equal(job.outcome, 'failed');
  assert.equal((job.outcomeReason as { code?: string }).code, 'attempts_exhausted');
  assert.equal((await h.claim()).reason, 'no_pending_jobs');
});

test('the winner’s replay gets the same answer; another body is refused', async (t) => {
  const h = await setupQueue(t);
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

test('50 completions at once: one is accepted, its replays agree, the rest are refused', async (t) => {
  const h = await setupQueue(t);
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
  const messages = new Set(
    accepted.map(({ body }) => (body['job'] as { message: string }).message),
  );
  assert.equal(messages.size, 1);
  assert.equal(accepted.length, 25);
  const fresh = accepted.filter(
    ({ body }) => !(body['result'] as { idempotent: boolean }).idempotent,
  );
  assert.equal(fresh.length, 1);
  const completed = (await h.timeline(jobId)).filter((event) => event.kind === 'completed');
  assert.equal(completed.length, 1);
});

test('a retryable outcome puts the job back after its delay while attempts remain', async (t) => {
  const h = await setupQueue(t);
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

test('children are enqueued with the completion, in the run and repository of their parent', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
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

test('a completion with a bad child changes nothing', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const body = { workspaceId: h.workspaceId, jobId, agentId: h.agentId, outcome: 'done' as const };
  const children = [
    { kind: 'work' as const, prompt: 'Fine.' },
    { kind: 'work' as const, prompt: 'Lost.', repoId: 'repo_unknown' },
  ];
  await h.refuse(jobs.complete, { ...body, children }, 'REPO_NOT_FOUND');
  assert.equal((await h.get(jobId)).job.status, 'running');
  assert.equal((await h.call(jobs.list, { workspaceId: h.workspaceId })).jobs.length, 1);
});

test('a job waits for its dependencies, and says which', async (t) => {
  const h = await setupQueue(t);
  const { jobId: first } = await h.enqueue();
  const { jobId: second } = await h.enqueue({ dependsOn: [first, first], priority: 9 });
  assert.deepEqual((await h.get(second)).waitingFor?.jobIds, [first]);
  assert.equal((await h.claim()).jobId, first);
  assert.equal((await h.claim()).reason, 'waiting_on_dependencies');
  await h.complete(first, { outcome: 'failed' });
  assert.match((await h.get(second)).waitingFor?.message ?? '', /failed/);
  await h.call(jobs.retry, { workspaceId: h.workspaceId, jobId: first });
  await h.claim();
  await h.complete(first);
  assert.equal((await h.claim()).jobId, second);
});

test('one job of a concurrency key runs at a time, across repositories and kinds', async (t) => {
  const h = await setupQueue(t);
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

test('a concurrency key is free again when its head is canceled, lost or retried', async (t) => {
  const h = await setupQueue(t);
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

test('a pending job is canceled at once; a done one cannot be', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  const ref = { workspaceId: h.workspaceId, jobId };
  assert.equal((await h.call(jobs.cancel, ref)).job.status, 'canceled');
  assert.equal((await h.call(jobs.cancel, ref)).job.status, 'canceled');
  assert.equal((await h.claim()).jobId, null);
  assert.deepEqual(kindsOf(await h.timeline(jobId)), ['enqueued', 'canceled']);
  await h.refuse(jobs.retry, ref, 'JOB_CANCELED');
});

test('a cancel of a running job reaches its agent, and a later completion is refused', async (t) => {
  const h = await setupQueue(t);
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
  await h.refuse(
    jobs.complete,
    { ...ref, agentId: h.agentId, outcome: 'done', evidence: { commitSha: 'abc' } },
    'JOB_CANCELED',
  );
  assert.equal((await h.get(jobId)).job.status, 'canceled');
  const events = await h.timeline(jobId);
  assert.deepEqual(kindsOf(events).slice(-2), ['log', 'canceled']);
});

test('a cancel that no agent answers ends with the lease', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 1_000 });
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  h.clock.advance(1_000);
  await h.hub.loops[0]?.runOnce();
  assert.equal((await h.get(jobId)).job.status, 'canceled');
});

test('a retry with the same claim key gets the same job, generation and token', async (t) => {
  const h = await setupQueue(t);
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

test('an idempotency key makes one job, also when 64 ask at once', async (t) => {
  const h = await setupQueue(t);
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => h.enqueue({ idempotencyKey: 'once' })),
  );
  assert.equal(new Set(answers.map((answer) => answer.jobId)).size, 1);
  assert.equal(answers.filter((answer) => answer.idempotent !== true).length, 1);
  await h.refuse(
    jobs.enqueue,
    {
      workspaceId: h.workspaceId,
      repoId: h.repoId,
      kind: 'work',
      prompt: 'Something else.',
      idempotencyKey: 'once',
    },
    'IDEMPOTENCY_CONFLICT',
  );
});

test('capabilities decide who gets a job; what nobody here can do does not look like nothing', async (t) => {
  const h = await setupQueue(t);
  const reader = await h.addAgent(h.home, 'reader', { models: ['m1'], labels: { os: 'linux' } });
  const { jobId: writing } = await h.enqueue();
  assert.equal((await h.claim({ agentId: reader })).reason, 'no_matching_capabilities');
  const { waitingFor } = await h.get(writing);
  assert.equal(waitingFor?.reason, 'queue_position');
  const { jobId: reading } = await h.enqueue({
    requirements: '{"canWrite": false, "models": ["m1", "m2"], "labels": {"os": "linux"}}',
  });
  assert.equal((await h.claim({ agentId: reader })).jobId, reading);
  const { jobId: gpu } = await h.enqueue({ requirements: { labels: { gpu: 'yes' } } });
  assert.equal((await h.claim()).jobId, writing);
  assert.equal((await h.claim()).reason, 'no_matching_capabilities');
  assert.equal((await h.get(gpu)).waitingFor?.reason, 'no_agent_with_capabilities');
  const text = await h.enqueue({ requirements: '{not JSON, but a sentence}' });
  assert.equal((await h.claim()).jobId, text.jobId);
  const bad = { workspaceId: h.workspaceId, repoId: h.repoId, kind: 'work' as const, prompt: 'x' };
  await h.refuse(jobs.enqueue, { ...bad, requirements: { executionMode: 5 } }, 'INVALID_REQUEST');
});

test('an agent gets jobs only of repositories that it serves', async (t) => {
  const h = await setupQueue(t);
  const { workspaceId, home } = h;
  const otherToken = await h.mintToken(workspaceId, 'other');
  const other = { ...home, token: otherToken };
  const stranger = await h.addAgent(other, 'stranger');
  const { jobId } = await h.enqueue();
  const claim = { workspaceId, agentId: stranger };
  const none = await h.call(jobs.claimNext, claim, otherToken);
  assert.equal(none.reason, 'no_repositories_served');
  await h.call(repositories.get, { workspaceId, repoId: home.repoId }, otherToken);
  assert.equal((await h.call(jobs.claimNext, claim, otherToken)).jobId, jobId);
  const picky = await h.addAgent(home, 'picky', { canWrite: true, reposAllowed: [] });
  assert.equal((await h.claim({ agentId: picky })).reason, 'no_repositories_served');
  await h.refuse(jobs.claimNext, claim, 'AGENT_NOT_FOUND');
});

test('a draining agent, one at capacity and a paused queue get nothing, and are told why', async (t) => {
  const h = await setupQueue(t);
  const { workspaceId } = h;
  const one = await h.addAgent(h.home, 'one', { canWrite: true, maxConcurrentJobs: 1 });
  await h.enqueue();
  const { jobId } = await h.enqueue();
  await h.claim({ agentId: one });
  assert.equal((await h.claim({ agentId: one })).reason, 'agent_at_capacity');
  await h.call(agents.heartbeat, {
    workspaceId,
    machineFingerprint: 'first',
    status: 'draining',
    capabilities: { canWrite: true },
  });
  assert.equal((await h.claim()).reason, 'agent_draining');
  const third = await h.addAgent(h.home, 'third');
  await h.call(queue.pause, { workspaceId });
  assert.equal((await h.claim({ agentId: third })).reason, 'queue_paused');
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'queue_paused');
  await h.call(queue.resume, { workspaceId });
  await h.call(queue.pause, { workspaceId, repoId: h.repoId });
  assert.equal((await h.claim({ agentId: third })).reason, 'queue_paused');
  await h.call(queue.resume, { workspaceId, repoId: h.repoId });
  assert.equal((await h.claim({ agentId: third })).jobId, jobId);
});

test('no job of an archived repository is claimed', async (t) => {
  const h = await setupQueue(t);
  const { jobId } = await h.enqueue();
  const remoteUrlHash = Buffer.from('first'.padEnd(32, '.')).toString('hex');
  const upsert = { workspaceId: h.workspaceId, remoteUrlHash };
  await h.call(repositories.upsert, { ...upsert, status: 'archived' });
  assert.equal((await h.claim()).jobId, null);
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'repository_archived');
  await h.call(repositories.upsert, { ...upsert, status: 'active' });
  assert.equal((await h.claim()).jobId, jobId);
});
