import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startDecisionWorld } from '../support/decision-world.ts';

const { jobs } = endpoints;

test('mine are the jobs that the caller enqueued, in lists and counts; each names its author', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId, repoId } = h;
  const other = await h.mintToken(workspaceId, 'other', ['enqueue', 'read']);
  const { jobId: mine } = await h.enqueue();
  const draft = { workspaceId, repoId, kind: 'work', prompt: 'Do it.' } as const;
  const { jobId: ofOther } = await h.call(jobs.enqueue, draft, other);
  const { jobId: review } = await h.call(jobs.enqueue, { ...draft, kind: 'pr_review' }, other);
  const list = async (filter: object, token?: string) => {
    const page = await h.call(jobs.list, { workspaceId, view: 'summary', ...filter }, token);
    return page.jobs.map(({ jobId, createdBy }) => [jobId, createdBy.name]);
  };
  assert.deepEqual(await list({ mine: true }), [[mine, 'test']]);
  assert.deepEqual(await list({ mine: true }, other), [
    [review, 'other'],
    [ofOther, 'other'],
  ]);
  assert.deepEqual(await list({ mine: true, kind: 'work' }, other), [[ofOther, 'other']]);
  assert.deepEqual(await list({ mine: true, statuses: ['running'] }, other), []);
  assert.equal((await list({ mine: false })).length, 3);
  const count = async (filter: object) =>
    (await h.call(jobs.counts, { workspaceId, ...filter }, other)).counts.pending;
  assert.deepEqual([await count({}), await count({ mine: true })], [3, 2]);
  assert.deepEqual((await h.get(mine)).job.createdBy, { id: 'service:test', name: 'test' });
});

test('the summary of a failed job says why, in one line', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.startJob({ maxAttempts: 1 });
  const why = 'The command exited with 1: Error: connect ECONNREFUSED 127.0.0.1:5432';
  await h.complete(jobId, { outcome: 'failed', message: `${why}\n${'more '.repeat(5_000)}` });
  const { jobId: silent } = await h.startJob({ maxAttempts: 1 });
  await h.complete(silent, {
    outcome: 'failed',
    outcomeReason: { category: 'execution', summary: 'It ended.' },
  });
  const page = await h.call(jobs.list, { workspaceId, view: 'summary', status: 'failed' });
  assert.deepEqual(
    page.jobs.map(({ failure }) => failure),
    ['It ended.', why],
  );
});
