import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ErrorCode, endpoints, LANDING_MODE, type RequestOf } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';
import { addDraft } from '../support/review-world.ts';

const { jobs, works, reviewComments } = endpoints;

const one = { commitSha: 'a'.repeat(40), baseSha: '0'.repeat(40), branch: 'signalbox/job_1-1' };
const two = { ...one, commitSha: 'b'.repeat(40) };
const landed = { result: 'landed', into: 'main', commitSha: 'c'.repeat(40) } as const;
const abilities = { canWrite: true, executionModes: ['cli', LANDING_MODE] };

async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId, agentId } = h;
  await h.addAgent(h.home, 'first', abilities);
  const { jobId } = await h.enqueue();
  return {
    ...h,
    jobId,
    /** Runs the next job of the agent to its end. */
    async end(body: Partial<RequestOf<typeof jobs.complete>> = {}) {
      const { jobId: claimed } = await h.claim();
      assert.ok(claimed);
      const outcome = 'done';
      await h.call(jobs.complete, { workspaceId, jobId: claimed, agentId, outcome, ...body });
      return claimed;
    },
    endWith(evidence: object, verdict = 'verified') {
      return this.end({ evidence: { ...evidence, verdict } });
    },
    work: async (id: string) => {
      const { work } = await h.get(id);
      assert.ok(work);
      return work;
    },
    approve: (id: string, more: object = {}) =>
      h.call(works.approve, { workspaceId, jobId: id, commitSha: one.commitSha, ...more }),
    land: (id: string) => h.call(works.land, { workspaceId, jobId: id }),
    close: (id: string, more: object = {}) =>
      h.call(works.close, { workspaceId, jobId: id, ...more }),
    next: (id: string) => h.call(jobs.continue, { workspaceId, jobId: id, message: 'More.' }),
    async listed(filter: object = { workEnded: false }) {
      const page = await h.call(jobs.list, { workspaceId, ...filter });
      return page.jobs.map((job) => job.jobId);
    },
    refused: async (row: (typeof works)[keyof typeof works], body: object, says: RegExp) => {
      const code: ErrorCode = 'INVALID_REQUEST';
      // Each row has both fields.
      const request = { workspaceId, ...body } as RequestOf<typeof works.close>;
      const error = await h.refuse(row as typeof works.close, request, code);
      assert.match(JSON.stringify(error), says);
    },
  };
}

test('a work is open, in review, approved, landed, and leaves the lists', async (t) => {
  const h = await setup(t);
  const { jobId } = h;
  assert.equal((await h.work(jobId)).state, 'open');
  await h.refused(works.approve, { jobId, commitSha: one.commitSha }, /is pending: wait/);
  await h.endWith(one);
  const reviewed = await h.work(jobId);
  assert.deepEqual(
    [reviewed.state, reviewed.jobId, reviewed.commitSha, reviewed.verdict, reviewed.missing],
    ['in_review', jobId, one.commitSha, 'verified', []],
  );
  await h.refused(works.land, { jobId }, /not approved/);
  const { work } = await h.approve(jobId);
  assert.deepEqual(
    [work.state, work.approval?.by.name, work.approval?.commitSha, work.approval?.override],
    ['in_review', 'test', one.commitSha, null],
  );
  const first = await h.land(jobId);
  assert.deepEqual(
    [first.job.landsJobId, first.job.role, first.job.status, first.job.title],
    [jobId, 'landing', 'pending', 'Land: Do it.'],
  );
  assert.equal((await h.land(jobId)).job.jobId, first.job.jobId, 'one landing');
  assert.equal(await h.end({ landing: landed }), first.job.jobId);
  const done = await h.work(jobId);
  assert.deepEqual(
    [done.state, done.landed?.into, done.landed?.commitSha, done.landing?.status],
    ['landed', 'main', landed.commitSha, 'done'],
  );
  assert.equal((await h.work(first.job.jobId)).state, 'landed', 'the landing shows its work');
  assert.equal((await h.land(jobId)).job.jobId, first.job.jobId, 'it lands once');
  assert.deepEqual(await h.listed(), []);
  assert.deepEqual(await h.listed({ workEnded: true }), [first.job.jobId, jobId]);
  assert.deepEqual(await h.listed({}), [first.job.jobId, jobId]);
  const counted = await h.call(jobs.counts, { workspaceId: h.workspaceId, workEnded: false });
  assert.equal(counted.counts.done, 0);
  const next = await h.next(jobId);
  const again = await h.work(jobId);
  assert.deepEqual(
    [again.state, again.approval, again.landing, again.landed, again.jobId],
    ['open', null, null, null, next.job.jobId],
  );
  assert.deepEqual(await h.listed(), [next.job.jobId, first.job.jobId, jobId]);
});

test('an approval is of one commit, and a later round voids it', async (t) => {
  const h = await setup(t);
  const { jobId } = h;
  await h.endWith(one);
  await h.refused(
    works.approve,
    { jobId, commitSha: two.commitSha },
    /latest round is aaaaaaaaaaaa/,
  );
  await h.approve(jobId);
  const { job } = await h.next(jobId);
  assert.equal((await h.work(jobId)).approval, null);
  await h.endWith(two);
  await h.refused(works.approve, { jobId, commitSha: one.commitSha }, /latest round is 2/);
  await h.refused(works.land, { jobId: job.jobId }, /not approved/);
  const body = { jobId: job.jobId, commitSha: one.commitSha, override: 'I know.' };
  await h.refused(works.approve, body, /bbbbbbbbbbbb/);
});

test('what is missing is named, and an override is kept with who gave it', async (t) => {
  const h = await setup(t);
  const { jobId } = h;
  const gaps = ['Check npm test failed with exit code 1.'];
  const conflicts = { into: 'main', files: ['a.ts', 'b.ts', 'c.ts', 'd.ts'] };
  await h.endWith({ ...one, gaps, conflicts }, 'gaps');
  const { missing } = await h.work(jobId);
  assert.deepEqual(missing, [...gaps, 'It conflicts with main in a.ts, b.ts, c.ts and 1 more.']);
  await h.refused(works.approve, { jobId, commitSha: one.commitSha }, /npm test failed.*conflicts/);
  const { work } = await h.approve(jobId, { override: 'The test is broken.' });
  assert.equal(work.approval?.override, 'The test is broken.');
  assert.equal((await h.land(jobId)).job.status, 'pending');
});

test('a work without checks may be approved, and says so; a failed one may not', async (t) => {
  const h = await setup(t);
  await h.endWith(one, 'unverified');
  const { work } = await h.approve(h.jobId, { override: 'Not needed.' });
  assert.deepEqual([work.verdict, work.approval?.override], ['unverified', null]);
  const other = await h.enqueue();
  await h.end({ outcome: 'failed', evidence: one });
  const body = { jobId: other.jobId, commitSha: one.commitSha, override: 'Yes.' };
  assert.equal((await h.work(other.jobId)).state, 'open');
  await h.refused(works.approve, body, /is failed/);
  const third = await h.enqueue();
  await h.end({ evidence: { changedFiles: [] } });
  await h.refused(works.approve, { ...body, jobId: third.jobId }, /no commit/);
});

test('an open thread keeps a work from being approved, and from landing', async (t) => {
  const h = await setup(t);
  const { workspaceId, jobId } = h;
  await h.endWith(one);
  // The home world has what a draft needs of the other one.
  const commentId = await addDraft(h as never, jobId);
  await h.call(jobs.continue, { workspaceId, jobId, commentIds: [commentId] });
  const round = await h.endWith(two);
  const commitSha = two.commitSha;
  assert.deepEqual((await h.work(round)).missing, ['1 review comment is not resolved.']);
  await h.refused(works.approve, { jobId: round, commitSha }, /1 review comment is not resolved/);
  const resolve = (isResolved: boolean) =>
    h.call(reviewComments.resolve, { workspaceId, commentId, isResolved });
  await resolve(true);
  assert.deepEqual((await h.work(round)).missing, [], 'read again after the comment');
  await h.approve(round, { commitSha });
  await resolve(false);
  await h.refused(works.land, { jobId: round }, /Since the approval: 1 review comment/);
  await h.approve(round, { commitSha, override: 'Later.' });
  await h.land(round);
});

test('a landing is claimed by agents that can land only, and is nothing to continue', async (t) => {
  const h = await setup(t);
  const { workspaceId, jobId } = h;
  await h.endWith(one);
  await h.approve(jobId);
  const { job } = await h.land(jobId);
  await h.addAgent(h.home, 'first', { canWrite: true, executionModes: ['cli'] });
  const claimed = await h.claim();
  assert.deepEqual([claimed.jobId, claimed.reason], [null, 'no_matching_capabilities']);
  const message = 'More.';
  for (const id of [job.jobId, jobId]) {
    await h.refuse(jobs.continue, { workspaceId, jobId: id, message }, 'INVALID_REQUEST');
  }
  await h.refused(works.close, { jobId }, /is pending: wait for its end, or cancel it/);
  await h.call(jobs.cancel, { workspaceId, jobId: job.jobId });
  const { state, approval, landing } = await h.work(jobId);
  assert.deepEqual([state, approval === null, landing?.status], ['in_review', false, 'canceled']);
  const again = await h.land(jobId);
  assert.notEqual(again.job.jobId, job.jobId);
  await h.addAgent(h.home, 'first', abilities);
  const why = { code: 'conflicts', summary: 'It conflicts with main in a.ts.' };
  const conflicts = { result: 'conflicts' as const, into: 'main', conflicts: ['a.ts'] };
  await h.end({ outcome: 'failed', outcomeReason: why, landing: conflicts });
  await h.refuse(jobs.retry, { workspaceId, jobId: again.job.jobId }, 'INVALID_REQUEST');
  const failed = await h.work(jobId);
  assert.deepEqual(
    [failed.state, failed.landing?.conflicts, failed.landing?.reason],
    ['in_review', { into: 'main', files: ['a.ts'] }, why.summary],
  );
  assert.ok(failed.approval);
});

test('only the completion of a landing says how it landed', async (t) => {
  const h = await setup(t);
  const { workspaceId, agentId, jobId } = h;
  const { jobId: claimed, jobToken } = await h.claim();
  const body = { workspaceId, agentId, outcome: 'done' } as const;
  const complete = {
    ...body,
    jobId: claimed ?? '',
    evidence: { ...one, verdict: 'verified' as const },
  };
  await h.refuse(jobs.complete, { ...complete, landing: landed }, 'INVALID_REQUEST');
  await h.refuse(jobs.complete, { ...complete, landing: landed }, 'NOT_ALLOWED', jobToken ?? '');
  await h.call(jobs.complete, complete);
  await h.approve(jobId);
  await h.land(jobId);
  const landing = await h.claim();
  const ofLanding = { ...body, jobId: landing.jobId ?? '', claimGeneration: 1 };
  await h.refuse(jobs.complete, ofLanding, 'INVALID_REQUEST');
  const stale = { ...ofLanding, claimGeneration: 2, landing: landed };
  await h.refuse(jobs.complete, stale, 'CLAIM_GENERATION_MISMATCH');
  assert.equal((await h.work(jobId)).state, 'in_review');
  const sent = { ...ofLanding, landing: landed };
  await h.call(jobs.complete, sent);
  assert.equal((await h.call(jobs.complete, sent)).result.idempotent, true);
});

test('a work is closed, or landed by hand, and a round opens it again', async (t) => {
  const h = await setup(t);
  const { jobId } = h;
  await h.refused(works.close, { jobId }, /is pending/);
  await h.endWith(one);
  assert.equal((await h.close(jobId)).work.state, 'closed');
  assert.deepEqual(await h.listed(), []);
  await h.refused(works.approve, { jobId, commitSha: one.commitSha }, /was closed/);
  const byHand = { into: 'main', commitSha: two.commitSha };
  const { work } = await h.close(jobId, { landed: byHand });
  assert.deepEqual(
    [work.state, work.landed?.into, work.landed?.by?.name],
    ['landed', 'main', 'test'],
  );
  assert.equal((await h.close(jobId)).work.state, 'landed');
  await h.next(jobId);
  assert.equal((await h.work(jobId)).state, 'open');
});

test('of two approvals, two landings, and a round beside them, one goes first', async (t) => {
  const h = await setup(t);
  const { workspaceId, jobId } = h;
  await h.endWith(one);
  const approved = await Promise.all([h.approve(jobId), h.approve(jobId)]);
  assert.equal(new Set(approved.map(({ work }) => work.approval?.at)).size, 1);
  const landings = await Promise.all([h.land(jobId), h.land(jobId)]);
  assert.equal(new Set(landings.map(({ job }) => job.jobId)).size, 1);
  await h.call(jobs.cancel, { workspaceId, jobId: landings[0]?.job.jobId ?? '' });
  const raced = await Promise.allSettled([h.land(jobId), h.next(jobId)]);
  assert.equal(raced.filter(({ status }) => status === 'fulfilled').length, 1);
  const work = await h.work(jobId);
  const isLanding = work.landing !== null && work.landing.status === 'pending';
  assert.notEqual(isLanding, work.state === 'open', 'it lands, or is continued');
});

test('of an approval and a round, the round has the last word', async (t) => {
  const h = await setup(t);
  const { jobId } = h;
  await h.endWith(one);
  await Promise.allSettled([h.approve(jobId), h.next(jobId)]);
  const work = await h.work(jobId);
  assert.deepEqual([work.state, work.approval], ['open', null]);
});

test('the landings of a repository run one after the other', async (t) => {
  const h = await setup(t);
  const other = await h.enqueue();
  for (const id of [h.jobId, other.jobId]) {
    await h.endWith(one);
    await h.approve(id);
  }
  await h.land(h.jobId);
  await h.land(other.jobId);
  const first = await h.claim();
  assert.equal(first.job?.landsJobId, h.jobId);
  assert.equal((await h.claim()).jobId, null);
  await h.complete(first.jobId ?? '', { landing: landed });
  assert.equal((await h.claim()).job?.landsJobId, other.jobId);
});
