import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, type Uncertainty } from '@signalbox/contract';
import { DEPTH_MAX } from '../../src/jobs/tree-limits.ts';
import { type Decisions, startDecisionWorld } from '../support/decision-world.ts';
import { kindsOf } from '../support/queue-world.ts';

const { jobs, uncertainties, runs } = endpoints;
const CROWD = 50;

/** All people answer at once, each with a different value. */
async function answerAtOnce(h: Decisions, uncertaintyId: string): Promise<string[]> {
  const replies = await Promise.all(
    Array.from({ length: CROWD }, (_, i) =>
      h.send(uncertainties.addResolution.path, h.answerBody(uncertaintyId, { value: `v${i}` })),
    ),
  );
  const won = replies.filter(({ status }) => status === 200);
  const lost = replies.filter(({ body }) => body.error === 'ALREADY_RESOLVED');
  assert.equal(won.length + lost.length, CROWD);
  return won.map(({ body }) => String((body.uncertainty as Shown).resolution?.value));
}

type Shown = Awaited<ReturnType<Decisions['read']>>;

test('of 50 people who answer at once one wins, and the blocked job resumes once', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  assert.equal((await h.block(jobId)).job.waitingOnUncertaintyId, uncertaintyId);
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'decision');
  const values = await answerAtOnce(h, uncertaintyId);
  assert.equal(values.length, 1);
  const { job } = await h.get(jobId);
  assert.deepEqual([job.status, job.outcome, job.waitingOnUncertaintyId], ['pending', null, null]);
  assert.deepEqual(
    job.decisions.map(({ value }) => value),
    values,
  );
  const { resolutions } = await h.read(uncertaintyId);
  assert.deepEqual(
    resolutions.map(({ value }) => value),
    values,
  );
  const events = await h.timeline(jobId);
  assert.deepEqual(kindsOf(events), ['enqueued', 'claimed', 'blocked', 'enqueued']);
  assert.partialDeepStrictEqual(events.at(-1)?.data, { decision: { uncertaintyId } });
  assert.deepEqual(await h.applications(), []);
});

test('a concurrent reader sees a decision request either open or resolved with its answer', async (t) => {
  const h = await startDecisionWorld(t);
  const asked = await Promise.all(Array.from({ length: 20 }, () => h.ask()));
  let isOver = false;
  const look = async (read: () => Promise<readonly Shown[]>) => {
    while (!isOver) {
      for (const { status, resolution, resolvedAt } of await read()) {
        const isAnswered = status === 'resolved';
        assert.deepEqual([resolution !== null, resolvedAt !== null], [isAnswered, isAnswered]);
      }
    }
  };
  const { workspaceId } = h;
  // Whole uncertainties, because no view was asked for.
  const list = async () =>
    (await h.call(uncertainties.list, { workspaceId })).uncertainties as Uncertainty[];
  const lookers = Promise.all([
    ...asked.map(({ uncertaintyId }) => look(async () => [await h.read(uncertaintyId)])),
    look(list),
  ]);
  try {
    for (const { uncertaintyId } of asked) await h.answer(uncertaintyId);
  } finally {
    isOver = true;
    await lookers;
  }
  assert.ok((await list()).every(({ resolution }) => resolution !== null));
});

test('of 50 people who answer at once one wins, and one job is enqueued to apply the answer', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId } = await h.ask({ context: 'The logo is new.', assumedValue: 'red' });
  const values = await answerAtOnce(h, uncertaintyId);
  const [job, ...others] = await h.applications();
  assert.deepEqual(others, []);
  assert.partialDeepStrictEqual(job, { status: 'pending', runId: h.runId, repoId: h.repoId });
  for (const text of ['Which colour?', values[0] ?? '', 'The logo is new.', uncertaintyId, 'red']) {
    assert.ok(job?.prompt.includes(text), `${job?.prompt} holds ${text}`);
  }
  const [event] = await h.timeline(job?.jobId ?? '');
  assert.partialDeepStrictEqual(event?.data, { decision: { uncertaintyId, mode: 'answered' } });
});

test('an answer that arrives before the job blocks makes it pending at once', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.answer(uncertaintyId);
  assert.equal((await h.get(jobId)).job.status, 'running');
  const body = { outcome: 'blocked' as const, message: 'I need a colour.' };
  const { result, job } = await h.complete(jobId, body);
  assert.deepEqual([result.status, job.status, job.outcome], ['pending', 'pending', null]);
  assert.equal(job.waitingOnUncertaintyId, null);
  assert.equal(
    (await h.complete(jobId, body)).result.status,
    'pending',
    'the replay says the same',
  );
  assert.deepEqual(kindsOf(await h.timeline(jobId)).slice(-2), ['blocked', 'enqueued']);
  const again = await h.claim();
  assert.deepEqual(
    again.job?.decisions.map(({ value }) => value),
    ['blue'],
  );
  // It knows the answer now, so it is blocked by something else.
  assert.equal((await h.block(jobId)).result.status, 'blocked');
  assert.deepEqual(await h.applications(), []);
});

test('a completion that an answer resumes leaves no outcome, reason or message in the job', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.answer(uncertaintyId);
  const body = { outcome: 'blocked' as const, message: 'I need a colour.', outcomeReason: 'asks' };
  const { job: completed } = await h.complete(jobId, body);
  const { job: read } = await h.get(jobId);
  const { result, job: replayed } = await h.complete(jobId, body);
  for (const { status, outcome, outcomeReason, message } of [completed, read, replayed]) {
    assert.deepEqual([status, outcome, outcomeReason, message], ['pending', null, null, null]);
  }
  assert.partialDeepStrictEqual(result, {
    status: 'pending',
    outcome: 'blocked',
    idempotent: true,
  });
  const blocked = (await h.timeline(jobId)).find(({ kind }) => kind === 'blocked');
  assert.equal(blocked?.message, body.message);
  assert.partialDeepStrictEqual(blocked?.data, { outcomeReason: body.outcomeReason });
});

test('an answer that its job never received is applied by another job', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.answer(uncertaintyId);
  assert.deepEqual(await h.applications(), []);
  const { job } = await h.complete(jobId);
  assert.deepEqual(job.decisions, []);
  const applications = await h.applications();
  assert.deepEqual(
    applications.map(({ parentJobId }) => parentJobId),
    [jobId],
  );
});

test('an answer that the tool has read or waited for is applied by that job', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const readers = [
    (uncertaintyId: string, token: string) =>
      h.call(uncertainties.get, { workspaceId, uncertaintyId }, token),
    (uncertaintyId: string, token: string) =>
      h.call(uncertainties.wait, { workspaceId, uncertaintyId }, token),
    (_: string, token: string, jobId: string) => h.call(jobs.get, { workspaceId, jobId }, token),
    // The agent itself, with the token that it was registered with.
    (uncertaintyId: string) => h.call(uncertainties.wait, { workspaceId, uncertaintyId }),
  ];
  for (const readAs of readers) {
    const { jobId, jobToken } = await h.startJob();
    const { uncertaintyId } = await h.ask({ jobId }, jobToken);
    await h.answer(uncertaintyId);
    await readAs(uncertaintyId, jobToken, jobId);
    await h.complete(jobId);
  }
  assert.deepEqual(await h.applications(), []);
});

test('a person reading an answer does not count as delivering it to the job', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.answer(uncertaintyId);
  await h.read(uncertaintyId);
  const reader = await h.mintToken(h.workspaceId, 'reader', ['read']);
  await h.call(uncertainties.wait, { workspaceId: h.workspaceId, uncertaintyId }, reader);
  await h.complete(jobId);
  assert.equal((await h.applications()).length, 1);
});

test('a job that is done in the meantime is not changed, and another applies the answer', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.complete(jobId);
  await h.answer(uncertaintyId);
  assert.equal((await h.get(jobId)).job.status, 'done');
  const applications = await h.applications();
  assert.deepEqual(
    applications.map(({ parentJobId }) => parentJobId),
    [jobId],
  );
});

test('the job of an answer runs where the job that asked could, and no earlier', async (t) => {
  const h = await startDecisionWorld(t);
  const requirements = { labels: { env: 'staging' }, canWrite: false };
  const agentId = await h.addAgent(h.home, 'staging', { labels: { env: 'staging' } });
  const { jobId } = await h.enqueue({ runId: h.runId, priority: -7, requirements });
  await h.claim({ agentId });
  const { uncertaintyId } = await h.ask({ jobId });
  await h.complete(jobId, { agentId });
  await h.answer(uncertaintyId);
  const [application] = await h.applications();
  assert.equal(application?.priority, -7);
  assert.deepEqual(application.requirements, { labels: { env: 'staging' } });
});

test('an answer that the tree of its job has no room for counts, and the timeline says so', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.hub.database.write(h.workspaceId, (tx) =>
    tx.runSql('UPDATE jobs SET depth = ? WHERE workspace_id = ? AND job_id = ?', [
      ...[DEPTH_MAX, h.workspaceId, jobId],
    ]),
  );
  await h.answer(uncertaintyId);
  assert.equal((await h.complete(jobId)).result.status, 'done');
  assert.deepEqual(await h.applications(), []);
  assert.match((await h.timeline(jobId)).at(-1)?.message ?? '', /not applied.*generations deep/);
});

test('a blocked job that a person retried gets the answer at its next claim', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.block(jobId);
  const { job } = await h.call(jobs.retry, { workspaceId: h.workspaceId, jobId });
  assert.equal(job.waitingOnUncertaintyId, null);
  await h.answer(uncertaintyId);
  const claimed = await h.claim();
  assert.deepEqual(
    claimed.job?.decisions.map(({ value }) => value),
    ['blue'],
  );
  await h.complete(jobId);
  assert.deepEqual(await h.applications(), []);
});

test('a decision grants an extra attempt to a job without attempts left', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob({ maxAttempts: 1 });
  const { uncertaintyId } = await h.ask({ jobId });
  await h.block(jobId);
  await h.answer(uncertaintyId);
  assert.equal((await h.get(jobId)).job.maxAttempts, 2);
  assert.equal((await h.claim()).claimGeneration, 2);
});

test('the first answer resumes a job, which waits for the open requests when it blocks again', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const first = await h.ask({ jobId });
  const second = await h.ask({ jobId, prompt: 'Which size?' });
  assert.equal((await h.block(jobId)).job.waitingOnUncertaintyId, first.uncertaintyId);
  await h.answer(first.uncertaintyId);
  assert.equal((await h.claim()).jobId, jobId);
  assert.equal((await h.block(jobId)).job.waitingOnUncertaintyId, second.uncertaintyId);
  await h.answer(second.uncertaintyId, { mode: 'dismissed', value: '' });
  const { job } = await h.claim();
  assert.deepEqual(
    job?.decisions.map(({ mode }) => mode),
    ['answered', 'dismissed'],
  );
});

test('an already blocked job waits for a request that is created or promoted later', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId, confidence: 0.9 });
  await h.block(jobId);
  assert.equal((await h.get(jobId)).job.waitingOnUncertaintyId, null);
  await h.call(uncertainties.promote, { workspaceId, uncertaintyId });
  assert.equal((await h.get(jobId)).job.waitingOnUncertaintyId, uncertaintyId);
  await h.answer(uncertaintyId);
  assert.equal((await h.get(jobId)).job.status, 'pending');
});

test('a superseding answer keeps both in order and replaces an application that has not started', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId } = await h.ask();
  await h.answer(uncertaintyId);
  await h.refuse(
    uncertainties.addResolution,
    h.answerBody(uncertaintyId, { value: 'green' }),
    'ALREADY_RESOLVED',
  );
  const { uncertainty } = await h.answer(uncertaintyId, { value: 'green', supersede: true });
  assert.deepEqual(
    uncertainty.resolutions.map(({ value }) => value),
    ['blue', 'green'],
  );
  assert.equal(uncertainty.resolution?.value, 'green');
  const statuses = (await h.applications()).map(({ status, prompt }) => [
    status,
    prompt.includes('green'),
  ]);
  assert.deepEqual(statuses, [
    ['pending', true],
    ['canceled', false],
  ]);
});

test('a superseding answer replaces the one that a pending job carries', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.block(jobId);
  await h.answer(uncertaintyId);
  await h.answer(uncertaintyId, { value: 'green', supersede: true });
  const { job } = await h.claim();
  assert.deepEqual(
    job?.decisions.map(({ value }) => value),
    ['green'],
  );
  await h.answer(uncertaintyId, { value: 'red', supersede: true });
  assert.deepEqual(await h.applications(), [], 'the running job has it already');
  await h.complete(jobId);
  assert.match((await h.applications())[0]?.prompt ?? '', /red/);
});

test('an answer that is sent again applies once', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId } = await h.ask();
  const body = h.answerBody(uncertaintyId, { idempotencyKey: 'k1' });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => h.call(uncertainties.addResolution, body)),
  );
  assert.equal(new Set(answers.map(({ resolutionId }) => resolutionId)).size, 1);
  assert.equal(answers.filter(({ idempotent }) => idempotent === true).length, 7);
  assert.equal((await h.applications()).length, 1);
});

test('an answer unblocks the run', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId, runId } = h;
  const { uncertaintyId, decisionRequestId } = await h.ask();
  const status = 'blocked';
  const body = { workspaceId, runId, status, blockedByDecisionRequestId: decisionRequestId };
  const { run } = await h.call(runs.upsertV2, body);
  assert.equal(run.blockedByDecisionRequestId, decisionRequestId);
  await h.answer(uncertaintyId);
  const after = await h.call(runs.get, { workspaceId, runId });
  assert.deepEqual([after.run.blockedByDecisionRequestId, after.run.status], [null, 'blocked']);
});

test('a prompt too long for a job is cut, with the answer cut last', async (t) => {
  const h = await startDecisionWorld(t);
  const long = '😀'.repeat(25_000);
  const { uncertaintyId } = await h.ask({ prompt: long, context: long });
  await h.answer(uncertaintyId, { value: long + long });
  const [job] = await h.applications();
  assert.ok((job?.prompt.length ?? 0) <= 200_000 && job?.prompt.isWellFormed());
  assert.ok(job?.prompt.includes('cut: uncertainties/get has it whole'));
  assert.ok(job?.prompt.includes(`Answer (answered):\n${long}${long}\n`));
});
