import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, uncertaintyStatuses } from '@signalbox/contract';
import { type Decisions, startDecisionWorld } from '../support/decision-world.ts';

const { uncertainties, jobs, runs } = endpoints;

test('one call has all that a decision card shows', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId, repoId, runId } = h;
  const { jobId, jobToken } = await h.startJob({ prompt: 'Build the logo.\nIn three colours.' });
  const { jobId: next } = await h.enqueue({ dependsOn: [jobId] });
  await h.enqueue({ dependsOn: [next] });
  await h.enqueue();
  const { uncertaintyId } = await h.ask({ jobId }, jobToken);
  const ref = { workspaceId, uncertaintyId };
  const read = async () => (await h.call(uncertainties.get, ref)).situation;
  assert.equal((await read())?.waitingJobs, 2, 'the running job does not wait');
  await h.block(jobId);
  const situation = await read();
  assert.partialDeepStrictEqual(situation, {
    writtenBy: 'tool',
    writtenByName: null,
    trust: 'external',
    run: { runId },
    repository: { repoId },
    job: { jobId, title: 'Build the logo.', status: 'blocked', attempt: 1 },
    agent: { agentId: h.agentId, status: 'online' },
    waitingJobs: 3,
  });
  const asTool = await h.call(uncertainties.get, ref, await claimToken(h, uncertaintyId));
  assert.equal(asTool.situation, null, 'a job token learns nothing of other jobs');
});

/** The token of the next attempt of the job, after an answer. */
async function claimToken(h: Decisions, uncertaintyId: string): Promise<string> {
  await h.answer(uncertaintyId);
  return (await h.claim()).jobToken ?? '';
}

test('a question that no job asked says whose token was used', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { uncertaintyId } = await h.ask();
  const { situation } = await h.call(uncertainties.get, { workspaceId, uncertaintyId });
  assert.partialDeepStrictEqual(situation, {
    writtenBy: 'service',
    writtenByName: 'test',
    trust: 'member',
    job: null,
    agent: null,
    waitingJobs: 0,
  });
});

test('summaries have no long text, and say in short how it was resolved', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId, repoId, runId } = h;
  const long = 'x'.repeat(100_000);
  const { jobId } = await h.startJob();
  const deadlineAt = new Date(h.clock.nowMs() + 1_000).toISOString();
  const asked = { prompt: `Which colour?\n${long}`, context: long, deadlineAt, jobId };
  const { uncertaintyId } = await h.ask(asked);
  const list = async () =>
    (await h.call(uncertainties.list, { workspaceId, view: 'summary' })).uncertainties;
  h.clock.advance(1_000);
  const [open] = await list();
  const fields = { uncertaintyId, repoId, runId, jobId, status: 'open', kind: 'choice' };
  const { createdAt, ...shown } = open ?? { createdAt: '' };
  assert.ok(createdAt);
  const text = { title: 'Which colour?', confidence: 0.2, deadlineAt, overdue: true };
  assert.deepEqual(shown, { ...fields, ...text });
  await h.answer(uncertaintyId, { value: `blue\n${long}`, undoMs: 5_000 });
  const [held] = await list();
  const answer = { mode: 'answered', by: 'test', title: 'blue' };
  assert.partialDeepStrictEqual(held, { status: 'resolved', answer });
  assert.ok(held?.handOverAt);
  assert.ok(JSON.stringify(held).length < 1_000);
});

test('lists and counts agree for every filter', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId, repoId, runId } = h;
  const other = await h.call(endpoints.repositories.upsert, {
    workspaceId,
    remoteUrlHash: 'b'.repeat(64),
  });
  const body = { workspaceId, repoId: other.repoId, runRef: 'other', status: 'planned' };
  const { runId: otherRun } = await h.call(runs.upsertV1, body);
  const { jobId } = await h.startJob();
  await h.ask({ jobId, kind: 'risk' });
  await h.ask({ runId: otherRun, confidence: 1 });
  await h.ask({ runId: otherRun });
  await h.answer((await h.ask()).uncertaintyId);
  const filters = [
    { filter: {}, found: { open: 2, assumed: 1, resolved: 1 } },
    { filter: { repoId }, found: { open: 1, assumed: 0, resolved: 1 } },
    { filter: { repoId: other.repoId }, found: { open: 1, assumed: 1, resolved: 0 } },
    { filter: { runId }, found: { open: 1, assumed: 0, resolved: 1 } },
    { filter: { jobId }, found: { open: 1, assumed: 0, resolved: 0 } },
    { filter: { kind: 'risk' as const }, found: { open: 1, assumed: 0, resolved: 0 } },
    { filter: { promoted: false }, found: { open: 0, assumed: 1, resolved: 0 } },
    { filter: { repoId: 'repo_none' }, found: { open: 0, assumed: 0, resolved: 0 } },
  ];
  for (const { filter, found } of filters) {
    const { counts, capped } = await h.call(uncertainties.counts, { workspaceId, ...filter });
    assert.deepEqual([counts, capped], [found, []], JSON.stringify(filter));
    for (const status of uncertaintyStatuses) {
      const list = { workspaceId, ...filter, status, view: 'summary' } as const;
      const page = await h.call(uncertainties.list, list);
      assert.equal(page.uncertainties.length, found[status], JSON.stringify(list));
    }
  }
});

test('mine are the questions of jobs that the caller enqueued, on any agent', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const other = await h.mintToken(workspaceId, 'other', ['enqueue', 'read']);
  const { jobId, jobToken } = await h.startJob();
  const { uncertaintyId: ofMyJob } = await h.ask({ jobId }, jobToken);
  const { uncertaintyId: ofMyRun } = await h.ask({}, jobToken);
  await h.block(jobId);
  const { uncertaintyId: ofOther } = await h.ask({}, other);
  const ids = async (filter: { mine?: boolean }, token = h.home.token) => {
    const page = await h.call(uncertainties.list, { workspaceId, ...filter }, token);
    return page.uncertainties.map(({ uncertaintyId }) => uncertaintyId);
  };
  assert.deepEqual(await ids({ mine: true }), [ofMyRun, ofMyJob]);
  assert.deepEqual(await ids({ mine: false }), [ofOther]);
  assert.deepEqual(await ids({}), [ofOther, ofMyRun, ofMyJob]);
  const { counts } = await h.call(uncertainties.counts, { workspaceId, mine: true });
  assert.equal(counts.open, 2);
  assert.deepEqual(await ids({ mine: true }, other), [ofOther]);
});

test('a question stays open and of its job when the job is retried without an answer', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.block(jobId);
  await h.call(jobs.retry, { workspaceId, jobId });
  const page = await h.call(uncertainties.list, { workspaceId, jobId, status: 'open' });
  assert.deepEqual(
    page.uncertainties.map((each) => each.uncertaintyId),
    [uncertaintyId],
  );
  await h.answer(uncertaintyId);
  assert.equal((await h.get(jobId)).job.decisions[0]?.value, 'blue');
});
