import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, type Job } from '@signalbox/contract';
import fc from 'fast-check';
import { type Decisions, startDecisionWorld } from '../support/decision-world.ts';

const { jobs, uncertainties } = endpoints;
const RUNS = 80;
const UNDO_MS = 10;

/*
 * An answer is applied exactly once in any history: one job asks, and agents, people and the
 * job's tool act in any permitted order.
 */

const step = fc.record({
  act: fc.constantFrom(
    ...(['ask', 'answer', 'answer', 'wait', 'block', 'claim', 'retry', 'fail', 'cancel'] as const),
    ...(['hold', 'hold', 'withdraw', 'tick'] as const),
  ),
  which: fc.nat(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Story {
  job: Job;
  jobToken: string;
  asked: string[];
  answered: Set<string>;
  /** The resolutions that can be withdrawn, by their questions. */
  held: Map<string, string>;
  /** The answers that the job received, by a claim or by waiting. */
  known: Set<string>;
}

async function claim(h: Decisions, story: Story): Promise<void> {
  // Jobs that apply answers are not this agent's.
  const claimed = await h.claim({ kinds: ['work'] });
  assert.equal(claimed.jobId, story.job.jobId, 'an answered job can be claimed');
  story.jobToken = claimed.jobToken ?? '';
  for (const { uncertaintyId } of claimed.job?.decisions ?? []) story.known.add(uncertaintyId);
}

/** Takes a step that concerns answers that can be withdrawn. */
async function takeHeld(
  h: Decisions,
  story: Story,
  act: Step['act'],
  uncertaintyId: string | undefined,
): Promise<void> {
  const { workspaceId } = h;
  if (uncertaintyId === undefined) return;
  if (act === 'hold' && !story.answered.has(uncertaintyId)) {
    const { resolutionId } = await h.answer(uncertaintyId, { undoMs: UNDO_MS });
    story.answered.add(uncertaintyId);
    story.held.set(uncertaintyId, resolutionId);
  }
  const resolutionId = story.held.get(uncertaintyId);
  if (act === 'withdraw' && resolutionId !== undefined) {
    await h.call(uncertainties.withdrawResolution, { workspaceId, uncertaintyId, resolutionId });
    story.answered.delete(uncertaintyId);
    story.held.delete(uncertaintyId);
    // A job that has ended has no open questions.
    const { status } = story.job;
    if (status === 'failed' || status === 'canceled') await forgetDismissed(h, story);
  }
  if (act === 'tick') await passUndoTime(h, story);
}

async function take(h: Decisions, story: Story, { act, which }: Step): Promise<void> {
  const { workspaceId } = h;
  const { jobId, status } = story.job;
  const uncertaintyId = story.asked[which % Math.max(1, story.asked.length)];
  if (act === 'ask') story.asked.push((await h.ask({ jobId })).uncertaintyId);
  if (act === 'answer' && uncertaintyId !== undefined && !story.answered.has(uncertaintyId)) {
    await h.answer(uncertaintyId);
    story.answered.add(uncertaintyId);
  }
  await takeHeld(h, story, act, uncertaintyId);
  if (act === 'wait' && status === 'running' && uncertaintyId !== undefined) {
    const body = { workspaceId, uncertaintyId, waitMs: 0 };
    const { uncertainty } = await h.call(uncertainties.wait, body, story.jobToken);
    if (uncertainty.status === 'resolved') story.known.add(uncertaintyId);
  }
  if (act === 'block' && status === 'running') await h.block(jobId);
  if (act === 'fail' && status === 'running') {
    await h.complete(jobId, { outcome: 'failed' });
    await forgetDismissed(h, story);
  }
  if (act === 'claim' && status === 'pending') await claim(h, story);
  if (act === 'retry' && (status === 'blocked' || status === 'failed')) {
    await h.call(jobs.retry, { workspaceId, jobId });
  }
  if (act === 'cancel' && status === 'blocked') {
    await h.call(jobs.cancel, { workspaceId, jobId });
    await forgetDismissed(h, story);
  }
  story.job = (await h.get(jobId)).job;
}

/** The end of the job has dismissed the questions without an answer: the story leaves them. */
async function forgetDismissed(h: Decisions, story: Story): Promise<void> {
  for (const id of story.asked.filter((asked) => !story.answered.has(asked))) {
    const { resolution } = await h.read(id);
    assert.deepEqual([resolution?.mode, resolution?.createdBy], ['dismissed', null]);
  }
  story.asked = story.asked.filter((asked) => story.answered.has(asked));
}

/** The answers that could be withdrawn are handed over. */
async function passUndoTime(h: Decisions, story: Story): Promise<void> {
  h.clock.advance(UNDO_MS);
  await h.hub.loops.handOvers.runOnce();
  story.held.clear();
}

/** Completes the job, if it has not ended. */
async function finish(h: Decisions, story: Story): Promise<void> {
  const { workspaceId } = h;
  const { jobId } = story.job;
  if (story.job.status === 'blocked' || story.job.status === 'failed') {
    story.job = (await h.call(jobs.retry, { workspaceId, jobId })).job;
  }
  if (story.job.status === 'pending') await claim(h, story);
  if (story.job.status === 'running') await h.complete(jobId);
  story.job = (await h.get(jobId)).job;
}

async function check(h: Decisions, { job, asked, answered, known }: Story): Promise<void> {
  assert.equal(job.waitingOnUncertaintyId, null);
  const { jobs: all } = await h.call(jobs.list, { workspaceId: h.workspaceId, limit: 200 });
  const made = all.filter(({ kind, parentJobId }) => {
    return kind === 'apply_decision' && parentJobId === job.jobId;
  });
  const resumed = (await h.timeline(job.jobId)).flatMap(({ kind, data }) => {
    const decision = data?.decision as { uncertaintyId: string } | undefined;
    return kind === 'enqueued' && decision !== undefined ? [decision.uncertaintyId] : [];
  });
  assert.equal(new Set(resumed).size, resumed.length, 'one answer resumes a job once');
  for (const id of asked) {
    const applied = made.filter(({ prompt }) => prompt?.includes(id)).length;
    const times = applied + (known.has(id) ? 1 : 0);
    assert.equal(times, answered.has(id) ? 1 : 0, `${id} is applied ${times} times`);
  }
}

test(`in ${RUNS} random stories of one job every answer is applied exactly once`, async (t) => {
  const h = await startDecisionWorld(t);
  const steps = fc.array(step, { maxLength: 14 });
  // Whether the job ends before the last answers are handed over.
  const story = fc.asyncProperty(steps, fc.boolean(), async (steps, latePass) => {
    const { jobId, jobToken } = await h.startJob();
    const { job } = await h.get(jobId);
    const told: Story = {
      job,
      jobToken,
      asked: [],
      answered: new Set(),
      held: new Map(),
      known: new Set(),
    };
    for (const each of steps) await take(h, told, each);
    if (latePass) await finish(h, told);
    await passUndoTime(h, told);
    told.job = (await h.get(jobId)).job;
    await finish(h, told);
    await check(h, told);
  });
  // On failure fast-check prints the seed and the path that replay the story.
  await fc.assert(story, { numRuns: RUNS, endOnFailure: true });
});
