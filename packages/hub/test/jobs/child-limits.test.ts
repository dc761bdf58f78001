import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints, type Job, type RequestOf } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs, runs } = endpoints;

type Draft = Partial<Omit<RequestOf<typeof jobs.enqueue>, 'workspaceId' | 'repoId'>>;
type Child = NonNullable<RequestOf<typeof jobs.complete>['children']>[number];

const everything = {
  canWrite: true,
  canUseNetwork: true,
  models: ['m1', 'm2'],
  executionModes: ['docker', 'host'],
  tools: [{ name: 'claude', isolation: ['user', 'wrap'] }],
  labels: { env: 'staging', os: 'linux' },
};

async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const agentId = await h.addAgent(h.home, 'everything', everything);
  const makeRun = async (runRef: string) =>
    (await h.call(runs.upsertV1, { workspaceId, repoId, runRef, status: 'planned' })).runId;
  /** Enqueues a job, and claims it. */
  const start = async (draft: Draft = {}) => {
    const { jobId } = await h.enqueue(draft);
    await h.claim({ agentId });
    return { workspaceId, jobId, agentId, outcome: 'done' as const };
  };
  /** The child of a job, as the hub has enqueued it. */
  const spawn = async (draft: Draft, child: Partial<Child> = {}): Promise<Job> => {
    const held = await start(draft);
    const children = [{ kind: 'work' as const, prompt: 'Continue.', ...child }];
    const { result } = await h.call(jobs.complete, { ...held, children });
    return (await h.get(result.spawnedJobIds[0] ?? '')).job;
  };
  return {
    ...h,
    agentId,
    makeRun,
    start,
    spawn,
    /** As `spawn`; the child is gone when the next job is claimed. */
    async look(draft: Draft, child: Partial<Child> = {}): Promise<Job> {
      const job = await spawn(draft, child);
      await h.call(jobs.cancel, { workspaceId, jobId: job.jobId });
      return job;
    },
    /** The sentence by which a child is refused. */
    async refuseChild(draft: Draft, child: Partial<Child>): Promise<string> {
      const held = await start(draft);
      const children = [{ kind: 'work' as const, prompt: 'Continue.', ...child }];
      const body = await h.refuse(jobs.complete, { ...held, children }, 'INVALID_REQUEST');
      assert.equal((await h.get(held.jobId)).job.status, 'running', 'nothing is completed');
      await h.call(jobs.complete, held);
      return body.message;
    },
  };
}

test('a child has at most the priority, the attempts and the budget of its job', async (t) => {
  const h = await setup(t);
  const limits = { priority: -3, maxAttempts: 2, budget: { costUsd: 1, minutes: 5 } };
  const wanted = { priority: 100, maxAttempts: 100, budget: { costUsd: 50, minutes: 1, steps: 9 } };
  const raised = await h.look(limits, wanted);
  assert.deepEqual([raised.priority, raised.maxAttempts], [-3, 2]);
  assert.deepEqual(raised.budget, { costUsd: 1, minutes: 1, steps: 9 });
  const silent = await h.look(limits);
  assert.deepEqual([silent.priority, silent.maxAttempts], [-3, 2]);
  assert.deepEqual(silent.budget, limits.budget);
  assert.deepEqual((await h.look({ priority: 9 }, { priority: 4 })).priority, 4);
});

test('a child has the requirements of its job, and may add to them', async (t) => {
  const h = await setup(t);
  const requirements = { labels: { env: 'staging' }, models: ['m1', 'm2'], mode: 'plan' };
  const other = { labels: { env: 'production', os: 'linux' }, model: 'm9', mode: 'bypass' };
  assert.deepEqual((await h.look({ requirements })).requirements, requirements);
  const added = {
    ...other,
    networkRequired: true,
    executionMode: 'docker',
    isolation: 'wrap',
  };
  assert.deepEqual((await h.look({ requirements }, { requirements: added })).requirements, {
    ...requirements,
    labels: { os: 'linux', env: 'staging' },
    networkRequired: true,
    executionMode: 'docker',
    isolation: 'wrap',
  });
  const required = { networkRequired: true, executionMode: 'host', isolation: 'wrap' };
  const loosened = { networkRequired: false, executionMode: 'docker', isolation: 'user' };
  const tight = await h.look({ requirements: required }, { requirements: loosened });
  assert.deepEqual(tight.requirements, required);
  const asText = JSON.stringify(requirements);
  assert.deepEqual((await h.look({ requirements: asText })).requirements, requirements);
});

test('no agent claims a child that could not have claimed its job', async (t) => {
  const h = await setup(t);
  const child = await h.spawn(
    { requirements: { labels: { env: 'staging' } } },
    { requirements: { labels: { env: 'production' } }, priority: 1_000 },
  );
  const production = { canWrite: true, labels: { env: 'production' } };
  const elsewhere = await h.addAgent(h.home, 'production', production);
  assert.equal((await h.claim({ agentId: elsewhere })).jobId, null);
  // A review needs no agent that can write, but its job did.
  await h.claim({ agentId: h.agentId });
  const review = await h.spawn({}, { kind: 'pr_review' });
  assert.deepEqual(review.requirements, { canWrite: false, writeRequired: true });
  const reader = await h.addAgent(h.home, 'reader', { ...everything, canWrite: false });
  assert.equal((await h.claim({ agentId: reader })).jobId, null);
  assert.equal((await h.claim({ agentId: h.agentId })).jobId, review.jobId);
  await h.complete(review.jobId, { agentId: h.agentId, evidence: { changedFiles: [] } });
  assert.equal((await h.get(review.jobId)).job.changed, null, 'it was not to change anything');
  assert.equal((await h.get(child.jobId)).job.status, 'running');
});

test('a job that may only read has no child that may write, by its kind or what it says', async (t) => {
  const h = await setup(t);
  for (const draft of [
    { kind: 'pr_review' as const },
    { requirements: { canWrite: false } },
    { requirements: { writeRequired: false } },
  ]) {
    const child = await h.look(draft, { requirements: { canWrite: true } });
    assert.deepEqual(child.requirements, { canWrite: false });
    const next = await h.look({ kind: child.kind, requirements: { canWrite: false } });
    assert.deepEqual(next.requirements, { canWrite: false });
  }
  const review = await h.look({ kind: 'pr_review' }, { kind: 'pr_review' });
  assert.equal(review.requirements, null);
  assert.equal((await h.look({})).requirements, null);
});

test('prose is kept for a child of a job without requirements, and refused otherwise', async (t) => {
  const h = await setup(t);
  const prose = 'Be brief.';
  assert.equal((await h.look({}, { requirements: prose })).requirements, prose);
  assert.equal((await h.look({ requirements: prose })).requirements, null);
  const refusal = await h.refuseChild(
    { requirements: { labels: { os: 'linux' } } },
    { requirements: prose },
  );
  assert.match(refusal, /children\.0\.requirements must be an object/);
});

test('a child stays in the repository and the run of its job', async (t) => {
  const h = await setup(t);
  const runId = await h.makeRun('own');
  const other = await h.makeRun('other');
  const elsewhere = await h.addRepository(h.home, 'elsewhere');
  assert.match(await h.refuseChild({ runId }, { repoId: elsewhere }), /the repository of the job/);
  assert.match(await h.refuseChild({ runId }, { repoId: 'repo_unknown' }), /the repository/);
  assert.match(await h.refuseChild({ runId }, { runId: other }), /the run of the job/);
  assert.match(await h.refuseChild({}, { runId: other }), /the run of the job/);
  const child = await h.look({ runId }, { runId, repoId: h.repoId });
  assert.deepEqual([child.runId, child.repoId], [runId, h.repoId]);
});

test('a child waits for jobs and keys of its run, or those of its job, only', async (t) => {
  const h = await setup(t);
  const runId = await h.makeRun('own');
  const { jobId: sibling } = await h.enqueue({ runId, kind: 'pr_review', delayMs: 1_000 });
  const { jobId: stranger } = await h.enqueue({ delayMs: 1_000 });
  const first = await h.start({ priority: 9 });
  await h.call(jobs.complete, first);
  const draft = { runId, priority: 9, dependsOn: [first.jobId], concurrencyKey: 'deploy' };
  for (const child of [
    { dependsOn: [stranger] },
    { dependsOn: ['job_unknown'] },
    { concurrencyKey: 'production' },
    { concurrencyKey: `${runId}` },
  ]) {
    const sentence = /dependsOn must name jobs of the run|concurrencyKey must be that of the job/;
    assert.match(await h.refuseChild(draft, child), sentence);
  }
  const child = await h.look(draft, {
    dependsOn: [sibling, first.jobId],
    concurrencyKey: 'deploy',
  });
  assert.deepEqual([child.dependsOn, child.concurrencyKey], [[sibling, first.jobId], 'deploy']);
  const keyed = await h.look({ runId, priority: 9 }, { concurrencyKey: `${runId}:tests` });
  assert.equal(keyed.concurrencyKey, `${runId}:tests`);
  const alone = await h.refuseChild({ priority: 9 }, { dependsOn: [sibling] });
  assert.match(alone, /dependsOn must name jobs of the run/);
});

test('a child is for the branch of its job, and builds on no job but those it may wait for', async (t) => {
  const h = await setup(t);
  const limits = { base: 'release' };
  const placeOf = ({ base, baseBranch }: Job) => [base, baseBranch];
  assert.deepEqual(placeOf(await h.look(limits)), ['release', 'release']);
  assert.deepEqual(placeOf(await h.look(limits, { base: 'release' })), ['release', 'release']);
  assert.match(await h.refuseChild(limits, { base: 'main' }), /base must be the branch of the job/);
  assert.match(await h.refuseChild({}, { base: 'main' }), /base must be the branch of the job/);
  const { jobId } = await h.enqueue();
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  assert.match(await h.refuseChild({}, { base: jobId }), /or a job that it may depend on/);
});
