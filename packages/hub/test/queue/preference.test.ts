import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DECISION_AGENT_PREFERENCE_MS, endpoints } from '@signalbox/contract';
import { startDecisionWorld } from '../support/decision-world.ts';

const { jobs } = endpoints;

/** A job that was blocked on a question, and a second agent. */
async function setupPreference(t: TestContext, draft: { concurrencyKey?: string } = {}) {
  const h = await startDecisionWorld(t);
  const other = await h.addAgent(h.home, 'other');
  const { jobId } = await h.startJob(draft);
  const { uncertaintyId } = await h.ask({ jobId });
  await h.block(jobId);
  const claimAs = (agentId: string, waitMs = 0) => h.claim({ agentId, waitMs });
  /** Resolves once so many claims are parked; each turn lets the hub's own work run. */
  async function untilParked(count: number): Promise<void> {
    while (h.hub.deps.waiters.count !== count) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return { ...h, other, jobId, uncertaintyId, claimAs, untilParked };
}

test('an answered job is kept for the agent that asked, which gets it first', async (t) => {
  const h = await setupPreference(t);
  await h.answer(h.uncertaintyId);
  const { waitingFor } = await h.get(h.jobId);
  assert.equal(waitingFor?.reason, 'not_yet_available');
  const { jobId: urgent } = await h.enqueue({ priority: 1_000 });
  assert.equal((await h.claimAs(h.other)).jobId, urgent);
  assert.equal((await h.claimAs(h.other)).reason, 'waiting_on_dependencies');
  await h.enqueue({ priority: 1_000 });
  assert.equal((await h.claimAs(h.agentId)).jobId, h.jobId);
});

test('after the preference any matching agent gets the job, with or without the sweeper', async (t) => {
  const h = await setupPreference(t);
  await h.answer(h.uncertaintyId);
  h.clock.advance(DECISION_AGENT_PREFERENCE_MS - 1);
  assert.equal((await h.claimAs(h.other)).jobId, null);
  // A claim has just looked in vain, so the claims of the next 100 ms do not look again.
  h.clock.advance(99);
  assert.equal((await h.claimAs(h.other)).jobId, null);
  h.clock.advance(1);
  assert.equal((await h.claimAs(h.other)).jobId, h.jobId);
});

test('the answer wakes only the agent that asked', async (t) => {
  const h = await setupPreference(t);
  const waiting = h.claimAs(h.other, 60_000);
  await h.untilParked(1);
  const own = h.claimAs(h.agentId, 60_000);
  await h.untilParked(2);
  await h.answer(h.uncertaintyId);
  assert.equal((await own).jobId, h.jobId);
  await h.untilParked(1);
  h.hub.deps.waiters.close();
  assert.equal((await waiting).jobId, null);
});

test('the sweeper ends a preference and wakes another agent that waits', async (t) => {
  const h = await setupPreference(t);
  await h.answer(h.uncertaintyId);
  h.clock.advance(DECISION_AGENT_PREFERENCE_MS - 1_000);
  const waiting = h.claimAs(h.other, 60_000);
  await h.untilParked(1);
  let isAnswered = false;
  void waiting.finally(() => {
    isAnswered = true;
  });
  // The sweeper's own timer runs again once its batch in progress has ended; the claim's wait is
  // the limit.
  while (!isAnswered) {
    h.clock.advance(500);
    await h.get(h.jobId);
  }
  assert.equal((await waiting).jobId, h.jobId);
});

test('a job is not kept for an offline agent', async (t) => {
  const h = await setupPreference(t);
  h.clock.advance(60_000);
  await h.answer(h.uncertaintyId);
  assert.equal((await h.claimAs(h.other)).jobId, h.jobId);
});

test('a job kept for an agent is not given to it without the required capabilities', async (t) => {
  const h = await setupPreference(t);
  await h.answer(h.uncertaintyId);
  assert.equal((await h.claim({ kinds: ['pr_review'] })).jobId, null);
  assert.equal((await h.claim({ kinds: ['work'] })).jobId, h.jobId);
});

test('a kept job whose concurrency key was taken waits for the key, then for any agent', async (t) => {
  const h = await setupPreference(t, { concurrencyKey: 'deploy' });
  const { jobId: rival } = await h.enqueue({ concurrencyKey: 'deploy' });
  await h.answer(h.uncertaintyId);
  assert.equal((await h.claimAs(h.other)).jobId, rival);
  assert.equal((await h.claimAs(h.agentId)).jobId, null);
  assert.equal((await h.get(h.jobId)).waitingFor?.reason, 'concurrency_key');
  await h.complete(rival, { agentId: h.other });
  assert.equal((await h.claimAs(h.other)).jobId, h.jobId);
});

test('a kept job can be canceled, and then no agent gets it', async (t) => {
  const h = await setupPreference(t);
  await h.answer(h.uncertaintyId);
  const { job } = await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId: h.jobId });
  assert.equal(job.status, 'canceled');
  assert.equal((await h.claimAs(h.agentId)).jobId, null);
});
