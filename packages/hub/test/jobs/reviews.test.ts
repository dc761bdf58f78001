import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs, repositories } = endpoints;
const evidence = {
  commitSha: 'a'.repeat(40),
  baseSha: '0'.repeat(40),
  branch: 'signalbox/job_1-1',
};

/** A job that is done with a commit. */
async function setup(t: TestContext) {
  const world = await startQueueWorld(t);
  const { workspaceId, repoId } = world;
  const end = async (more: object = { evidence }) => {
    const { jobId } = await world.claim();
    assert.ok(jobId);
    await world.complete(jobId, more);
    return jobId;
  };
  const { jobId } = await world.enqueue();
  const draft = { workspaceId, repoId, kind: 'pr_review', prompt: 'Review it.' } as const;
  return {
    ...world,
    jobId,
    end,
    draft,
    review: (of: string) => world.call(jobs.enqueue, { ...draft, reviewsJobId: of }),
    async refused(body: object, says: RegExp) {
      const error = await world.refuse(jobs.enqueue, { ...draft, ...body }, 'INVALID_REQUEST');
      assert.match(JSON.stringify(error), says);
    },
  };
}

test('a review names the job whose commit it reviews, and the work lists its reviews', async (t) => {
  const h = await setup(t);
  const { workspaceId, jobId } = h;
  await h.end();
  assert.equal((await h.get(jobId)).reviews, undefined);
  const second = await h.addAgent(h.home, 'second');
  const { job } = await h.review(jobId);
  assert.equal(job.reviewsJobId, jobId);
  assert.deepEqual((await h.get(jobId)).reviews, [{ jobId: job.jobId, status: 'pending' }]);
  // The branch is on the machine of the first agent only.
  assert.equal((await h.claim({ agentId: second })).jobId, null);
  const findings = [{ file: 'a.ts', line: 2, severity: 'major', message: 'No.', text: 'let a;' }];
  const found = { reviewedSha: evidence.commitSha, findings };
  assert.equal(await h.end({ evidence: found }), job.jobId);
  assert.deepEqual((await h.get(job.jobId)).job.evidence, found);
  const { job: round } = await h.call(jobs.continue, { workspaceId, jobId, message: 'More.' });
  await h.end();
  const later = await h.review(round.jobId);
  const expected = [
    { jobId: later.jobId, status: 'pending' },
    { jobId: job.jobId, status: 'done' },
  ];
  for (const each of [jobId, round.jobId]) assert.deepEqual((await h.get(each)).reviews, expected);
  assert.equal((await h.get(job.jobId)).reviews, undefined, 'a review has no commit');
});

test('a review is of an ended job of its repository with a commit', async (t) => {
  const h = await setup(t);
  const { workspaceId, jobId } = h;
  await h.refused({ reviewsJobId: jobId }, /done or failed with a commit/);
  await h.end({});
  await h.refused({ reviewsJobId: jobId }, /done or failed with a commit/);
  await h.enqueue();
  const reviewsJobId = await h.end();
  await h.refused({ reviewsJobId, kind: 'work' }, /jobs of the kind pr_review/);
  const remoteUrlHash = 'b'.repeat(64);
  const other = { workspaceId, remoteUrlHash, label: 'other' };
  const { repoId } = await h.call(repositories.upsert, other);
  await h.refused({ reviewsJobId, repoId }, /a job of the same repository/);
  const unknown = { ...h.draft, reviewsJobId: 'job_1j78s1co0003qjivc1or' };
  await h.refuse(jobs.enqueue, unknown, 'JOB_NOT_FOUND');
});
