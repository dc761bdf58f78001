import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs, repositories, works } = endpoints;
const evidence = {
  commitSha: 'a'.repeat(40),
  baseSha: '0'.repeat(40),
  branch: 'signalbox/job_1-1',
};

async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  return {
    ...h,
    /** Enqueues a job that names no other one, and ends it. */
    async end(base?: string, more: object = { evidence }) {
      const { jobId } = await h.enqueue(base === undefined ? {} : { base });
      assert.equal((await h.claim()).jobId, jobId);
      await h.complete(jobId, more);
      return jobId;
    },
    async refused(base: string, says: RegExp, more: object = {}) {
      const draft = { workspaceId, repoId, kind: 'work', prompt: 'Do it.', base, ...more } as const;
      const error = await h.refuse(jobs.enqueue, draft, 'INVALID_REQUEST');
      assert.match(JSON.stringify(error), says);
    },
  };
}

test('a job names the branch that it builds on, and what follows from it is for that branch', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const jobId = await h.end('release/1.x');
  const placeOf = async (id: string) => {
    const { base, baseBranch, dependsOn } = (await h.get(id)).job;
    return [base, baseBranch, dependsOn];
  };
  assert.deepEqual(await placeOf(jobId), ['release/1.x', 'release/1.x', []]);
  const { job: dependent } = await h.enqueue({ dependsOn: [jobId] });
  assert.deepEqual(await placeOf(dependent.jobId), [undefined, 'release/1.x', [jobId]]);
  const { job: elsewhere } = await h.enqueue({ dependsOn: [jobId], base: 'main' });
  assert.deepEqual(await placeOf(elsewhere.jobId), ['main', 'main', [jobId]]);
  for (const { jobId: id } of [dependent, elsewhere])
    await h.call(jobs.cancel, { workspaceId, jobId: id });
  const { job: round } = await h.call(jobs.continue, { workspaceId, jobId, message: 'More.' });
  assert.deepEqual(await placeOf(round.jobId), ['release/1.x', 'release/1.x', []]);
  await h.claim();
  await h.complete(round.jobId, { evidence: { ...evidence, verdict: 'verified' } });
  const { commitSha } = evidence;
  await h.call(works.approve, { workspaceId, jobId: round.jobId, commitSha });
  const { job: landing } = await h.call(works.land, { workspaceId, jobId: round.jobId });
  assert.deepEqual(await placeOf(landing.jobId), [undefined, 'release/1.x', []]);
  const { job: plain } = await h.enqueue();
  assert.deepEqual(await placeOf(plain.jobId), [undefined, undefined, []]);
});

test('a job that builds on one that has not ended waits for it', async (t) => {
  const h = await setup(t);
  const { job: first } = await h.enqueue({ base: 'release' });
  const { job: second } = await h.enqueue({ base: first.jobId });
  assert.deepEqual([second.base, second.baseBranch], [first.jobId, 'release']);
  assert.deepEqual(second.dependsOn, [first.jobId]);
  assert.equal((await h.claim()).jobId, first.jobId);
  assert.equal((await h.claim()).jobId, null);
  await h.complete(first.jobId, { evidence });
  assert.equal((await h.claim()).jobId, second.jobId);
});

test('a base is a branch, or a job of the repository that has a commit', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const withCommit = await h.end();
  await h.refused(await h.end(undefined, {}), /a job that has a commit, or one that has not ended/);
  const { jobId } = await h.enqueue();
  await h.call(jobs.cancel, { workspaceId, jobId });
  await h.refused(jobId, /a job that has a commit, or one that has not ended/);
  const remoteUrlHash = 'b'.repeat(64);
  const other = { workspaceId, remoteUrlHash, label: 'other' };
  const { repoId } = await h.call(repositories.upsert, other);
  await h.refused(withCommit, /a job of the same repository/, { repoId });
  for (const name of ['main~2', '-x', 'a b', 'main^{tree}', 'a:b']) await h.refused(name, /base/);
  const unknown = { workspaceId, repoId: h.repoId, kind: 'work', prompt: 'Do it.' } as const;
  const base = 'job_1j78s1co0003qjivc1or';
  await h.refuse(jobs.enqueue, { ...unknown, base }, 'JOB_NOT_FOUND');
});

test('a job is reserved for the machine that has the commit it builds on', async (t) => {
  const h = await setup(t);
  const { workspaceId, repoId } = h;
  const jobId = await h.end();
  const second = await h.addAgent(h.home, 'second');
  const named = await h.enqueue({ base: jobId });
  assert.equal((await h.claim({ agentId: second })).jobId, null);
  assert.equal((await h.claim()).jobId, named.jobId);
  // That of a dependency is found out by the first agent that does not have it.
  const { jobId: dependent } = await h.enqueue({ dependsOn: [jobId] });
  const outcomeReason = {
    category: 'environment',
    code: 'base_unavailable',
    retryable: true,
    recommendedDelayMs: 0,
    spendsAttempt: false,
    details: { jobId },
  };
  const missing = { workspaceId, agentId: second, outcome: 'failed', outcomeReason } as const;
  assert.equal((await h.claim({ agentId: second })).jobId, dependent);
  await h.call(jobs.complete, { ...missing, jobId: dependent });
  assert.equal((await h.claim({ agentId: second })).jobId, null);
  assert.equal((await h.get(dependent)).waitingFor?.reason, 'agent_with_branch');
  assert.equal((await h.claim()).jobId, dependent);
  // A pushed commit is for all.
  const { job: pushed } = await h.enqueue();
  await h.claim();
  await h.complete(pushed.jobId, { evidence: { ...evidence, pushedTo: 'origin' } });
  const kind = 'work' as const;
  const after = { workspaceId, repoId, kind, prompt: 'x', dependsOn: [pushed.jobId] };
  const { jobId: anywhere } = await h.call(jobs.enqueue, after);
  assert.equal((await h.claim({ agentId: second })).jobId, anywhere);
});
