import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs } = endpoints;

const models = [{}, { model: 'small' }, { model: 'large' }];

async function setup(t: TestContext, variants: object[] = [{}, {}, {}]) {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId, variantJobIds } = await h.enqueue({
    requirements: { labels: {} },
    priority: 3,
    variants,
  });
  assert.ok(variantJobIds);
  assert.equal(variantJobIds[0], jobId);
  const [first, second, third] = variantJobIds as [string, string, string];
  return {
    ...h,
    first,
    second,
    third,
    choose: (id: string) => h.call(jobs.chooseVariant, { workspaceId, jobId: id }),
    /** Claims and completes the next job. */
    async end(evidence: object, usage: object = {}) {
      const claimed = await h.claim();
      assert.ok(claimed.jobId);
      await h.complete(claimed.jobId, { evidence: { ...evidence }, usage });
      return claimed.jobId;
    },
  };
}

test('variants differ in tool and model only, and each begins a work of its own', async (t) => {
  const h = await setup(t, models);
  const read = await Promise.all([h.first, h.second, h.third].map((id) => h.get(id)));
  assert.deepEqual(
    read.map(({ job }) => [job.variantOf, job.model, job.priority, job.round, job.workJobId]),
    [null, 'small', 'large'].map((model) => [h.first, model, 3, 1, null]),
  );
  assert.deepEqual(
    read[2]?.variants?.map(({ jobId, isChosen }) => [jobId, isChosen]),
    [h.first, h.second, h.third].map((id) => [id, null]),
  );
});

test('variants are compared by the latest round of each, with the cost of all', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const checks = [
    { name: 'a', command: 'a', outcome: 'passed', durationMs: 1 },
    { name: 'b', command: 'b', outcome: 'failed', durationMs: 1 },
  ];
  const ended = await h.end({ changedFiles: ['a', 'b', 'c'] }, { costUsd: 1 });
  assert.equal(ended, h.first);
  await h.call(jobs.continue, { workspaceId, jobId: h.first, message: 'Shorter.' });
  await h.call(jobs.cancel, { workspaceId, jobId: h.second });
  await h.call(jobs.cancel, { workspaceId, jobId: h.third });
  const files = [
    { path: 'a', added: 2, deleted: 1 },
    { path: 'logo.png' },
    { path: 'b', added: 5, deleted: 0 },
  ];
  const changedFiles = ['a', 'b', 'logo.png'];
  await h.end({ verdict: 'gaps', checks, files, changedFiles }, { costUsd: 0.5 });
  const [first, second] = (await h.get(h.first)).variants ?? [];
  assert.ok(first);
  const { jobId, status, verdict, linesAdded, linesDeleted, costUsd } = first;
  assert.deepEqual(
    [jobId, status, verdict, first.checks, first.files, linesAdded, linesDeleted, costUsd],
    [h.first, 'done', 'gaps', { passed: 1, total: 2 }, 3, 7, 1, 1.5],
  );
  assert.deepEqual([second?.status, second?.files], ['canceled', null]);
});

test('a comparison survives evidence of any form', async (t) => {
  const h = await setup(t);
  await h.end({
    files: [null, 7, { added: 'x' }, { added: -1 }, { added: 2, deleted: 1e300 }],
    checks: [null, 'passed', { outcome: 'passed' }, { outcome: {} }],
  });
  const [first] = (await h.get(h.first)).variants ?? [];
  assert.deepEqual(
    [first?.checks, first?.linesAdded, first?.linesDeleted],
    [{ passed: 1, total: 2 }, 2, 0],
  );
  await h.end({ files: {}, checks: 'all' });
  assert.deepEqual((await h.get(h.second)).variants?.[1]?.linesAdded, null);
});

test('a choice cancels the others and is final', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  await h.end({});
  await h.end({});
  const running = await h.claim();
  assert.equal(running.jobId, h.third);
  const { job, variants } = await h.choose(h.first);
  assert.deepEqual([job.jobId, job.status], [h.first, 'done']);
  assert.deepEqual(
    variants.map(({ status, isChosen }) => [status, isChosen]),
    [
      ['done', true],
      ['done', false],
      ['running', false],
    ],
  );
  assert.ok((await h.get(h.third)).job.cancelRequestedAt, 'its agent is asked to end it');
  assert.deepEqual(await h.choose(h.first), { ok: true, job, variants });
  await h.refuse(jobs.chooseVariant, { workspaceId, jobId: h.third }, 'INVALID_REQUEST');
  const message = 'More.';
  await h.refuse(jobs.continue, { workspaceId, jobId: h.second, message }, 'INVALID_REQUEST');
  const next = await h.call(jobs.continue, { workspaceId, jobId: h.first, message });
  assert.equal(next.job.variantOf, h.first);
  await h.choose(next.job.jobId);
});

test('a variant is refused for a job that is no variant, and where the requirements are a text', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  await h.refuse(jobs.chooseVariant, { workspaceId, jobId }, 'INVALID_REQUEST');
  const draft = { workspaceId, repoId: h.repoId, kind: 'work', prompt: 'x' } as const;
  const variants = [{ tool: 'claude' }, { tool: 'codex' }];
  const asText = { ...draft, requirements: 'Be quick.', variants };
  await h.refuse(jobs.enqueue, asText, 'INVALID_REQUEST');
  const page = await h.call(jobs.list, { workspaceId });
  assert.equal(page.jobs.length, 1, 'no variant was enqueued');
});

test('variants repeated with their key are the same', async (t) => {
  const h = await startQueueWorld(t);
  const request = { variants: [{}, { model: 'm' }], idempotencyKey: 'key-1' };
  const first = await h.enqueue(request);
  const again = await h.enqueue(request);
  assert.deepEqual(again.variantJobIds, first.variantJobIds);
  assert.equal(again.idempotent, true);
});
