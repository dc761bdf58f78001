import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startDecisionWorld } from '../support/decision-world.ts';

const { uncertainties, runs } = endpoints;
const action = { kind: 'approval', confidence: 0, actionKey: 'run:npm install' } as const;

async function setup(t: TestContext) {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const held = { jobId, agentId: h.agentId, claimGeneration: 1 };
  const take = (uncertaintyId: string, claim: Partial<typeof held> = {}) =>
    h.call(uncertainties.takeAnswer, {
      workspaceId: h.workspaceId,
      uncertaintyId,
      ...held,
      ...claim,
    });
  return { ...h, jobId, held, take };
}

test('an action is asked about once, until its answer is taken', async (t) => {
  const h = await setup(t);
  const first = await h.ask({ ...action, ...h.held });
  const again = await h.ask({ ...action, ...h.held, prompt: 'In other words?' });
  assert.equal(again.uncertaintyId, first.uncertaintyId);

  assert.equal((await h.take(first.uncertaintyId)).taken, false);
  await h.answer(first.uncertaintyId, { value: 'allow' });
  const known = await h.ask({ ...action, ...h.held });
  assert.equal(known.uncertaintyId, first.uncertaintyId);
  const { taken, uncertainty } = await h.take(first.uncertaintyId);
  assert.deepEqual([taken, uncertainty.resolution?.value], [true, 'allow']);
  assert.equal((await h.take(first.uncertaintyId)).taken, true);

  const next = await h.ask({ ...action, ...h.held });
  assert.notEqual(next.uncertaintyId, first.uncertaintyId);
});

test('an answer that was only looked at is handed over when the job blocks', async (t) => {
  const h = await setup(t);
  const { uncertaintyId } = await h.ask({ ...action, ...h.held });
  await h.answer(uncertaintyId, { value: 'allow' });
  const body = { workspaceId: h.workspaceId, uncertaintyId, waitMs: 0, peek: true };
  const { uncertainty } = await h.call(uncertainties.wait, body);
  assert.equal(uncertainty.resolution?.value, 'allow');
  assert.equal((await h.block(h.jobId)).result.status, 'pending');
});

test('questions about actions end with their job, and make no other job', async (t) => {
  const h = await setup(t);
  const open = await h.ask({ ...action, ...h.held });
  const answered = await h.ask({ ...action, ...h.held, actionKey: 'edit:a' });
  await h.answer(answered.uncertaintyId, { value: 'allow' });
  await h.complete(h.jobId, { outcome: 'done' });
  assert.equal((await h.read(open.uncertaintyId)).resolution?.mode, 'dismissed');
  assert.deepEqual(await h.applications(), []);
});

test('the claim fences questions and answers of an action', async (t) => {
  const h = await setup(t);
  const { uncertaintyId } = await h.ask({ ...action, ...h.held });
  await h.answer(uncertaintyId, { value: 'allow' });
  const late = { ...h.held, claimGeneration: 2 };
  await assert.rejects(h.ask({ ...action, ...late }), /CLAIM_GENERATION_MISMATCH/);
  await assert.rejects(h.take(uncertaintyId, late), /CLAIM_GENERATION_MISMATCH/);
});

test('a job without a run asks without one', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue({ priority: 100 });
  await h.claim();
  const body = { workspaceId, jobId, prompt: 'May it?', ...action };
  const create = uncertainties.createWithAutoPromotion;
  const first = await h.call(create, body);
  const second = await h.call(create, { ...body, actionKey: 'b' });
  const { runId, repoId } = await h.read(first.uncertaintyId);
  assert.deepEqual([runId, repoId], [null, h.repoId]);
  assert.equal((await h.read(second.uncertaintyId)).runId, null);
  const ref = { workspaceId, uncertaintyId: first.uncertaintyId };
  const { situation } = await h.call(uncertainties.get, ref);
  assert.equal(situation?.run, null);
  assert.equal(situation?.repository?.repoId, h.repoId);
  const { runs: made } = await h.call(runs.list, { workspaceId });
  assert.deepEqual(
    made.map((run) => run.runId),
    [h.runId],
    'no run is made',
  );
  const { jobId: _jobId, actionKey: _actionKey, ...alone } = body;
  await assert.rejects(h.call(create, alone), /runId is required without jobId/);
});
