import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  COMMENT_CHARS_MAX,
  COMMENT_LINES_CHARS_MAX,
  COMMENTS_SENT_CHARS_MAX,
  type CommentFate,
  endpoints,
  REVIEW_COMMENTS_MAX,
  type RequestOf,
} from '@signalbox/contract';
import { deleteComments } from '../../src/review/store.ts';
import { startQueueWorld } from '../support/queue-world.ts';
import { examplePlace, reviewed } from '../support/review-world.ts';
import { upload } from '../support/upload-setup.ts';

const { jobs, reviewComments } = endpoints;
type Body = RequestOf<typeof reviewComments.save>;
/** A place that is null is left out. */
type SaveBody = Partial<Omit<Body, 'place'>> & { place?: Body['place'] | null };

async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId, agentId } = h;
  const bodyOf = (jobId: string, { place = examplePlace, ...more }: SaveBody): Body => ({
    workspaceId,
    jobId,
    text: 'Return the version.',
    ...(place === null ? {} : { place }),
    ...more,
  });
  const save = async (jobId: string, more: SaveBody = {}) =>
    (await h.call(reviewComments.save, bodyOf(jobId, more))).comment;
  const list = async (jobId: string) =>
    (await h.call(reviewComments.list, { workspaceId, jobId })).comments;
  /** Runs the next job of the agent to its end. */
  const end = async (more: Partial<RequestOf<typeof jobs.complete>> = {}) => {
    const { jobId } = await h.claim();
    assert.ok(jobId);
    await h.complete(jobId, { evidence: reviewed, ...more });
    return jobId;
  };
  return {
    ...h,
    save,
    list,
    end,
    async reviewedJob() {
      const { jobId } = await h.enqueue();
      await end();
      return jobId;
    },
    refuseSave: (jobId: string, more: SaveBody) =>
      h.refuse(reviewComments.save, bodyOf(jobId, more), 'INVALID_REQUEST'),
    sendRound: async (jobId: string, commentIds: string[], message?: string) => {
      const wish = message === undefined ? {} : { message };
      return (await h.call(jobs.continue, { workspaceId, jobId, commentIds, ...wish })).job;
    },
    answer: (jobId: string, number: number, more: object = {}) =>
      h.call(reviewComments.answer, {
        workspaceId,
        jobId,
        agentId,
        claimGeneration: 1,
        number,
        word: 'changed',
        note: 'It does.',
        ...more,
      }),
  };
}

test('drafts become a round, numbered over the work', async (t) => {
  const h = await setup(t);
  const jobId = await h.reviewedJob();
  const first = await h.save(jobId);
  assert.deepEqual(
    [first.number, first.sentInJobId, first.commitSha, first.jobId],
    [null, null, reviewed.commitSha, jobId],
  );
  const base = await h.save(jobId, { place: { ...examplePlace, side: 'base' } });
  assert.equal(base.commitSha, reviewed.baseSha);
  const kept = await h.save(jobId, { text: 'Later.' });
  const round = await h.sendRound(jobId, [base.commentId, first.commentId, base.commentId]);
  assert.deepEqual(
    [round.prompt, round.title, round.round],
    ['2 review comments', '2 review comments', 2],
  );
  const sent = await h.list(round.jobId);
  assert.deepEqual(
    sent.map(({ number, sentInJobId }) => [number, sentInJobId]),
    [
      [1, round.jobId],
      [2, round.jobId],
      [null, null],
    ],
  );
  await h.end();
  const second = await h.save(round.jobId, { text: 'And the name.' });
  const third = await h.sendRound(round.jobId, [kept.commentId, second.commentId], 'The rest.');
  assert.equal(third.prompt, 'The rest.');
  assert.deepEqual(
    (await h.list(jobId)).map(({ number }) => number),
    [1, 2, 3, 4],
  );
});

test('of two reviewers who send at once, one makes the round and the other reads why', async (t) => {
  const h = await setup(t);
  const jobId = await h.reviewedJob();
  const { commentId } = await h.save(jobId);
  const all = await Promise.allSettled([
    h.sendRound(jobId, [commentId]),
    h.sendRound(jobId, [commentId]),
  ]);
  const refused = all.filter((each) => each.status === 'rejected');
  assert.equal(refused.length, 1);
  assert.match(String(refused[0]?.reason), /continued already: continue round 2/);
  assert.equal((await h.get(jobId)).rounds?.length, 2);
});

test('a draft that was sent or removed meanwhile refuses the whole call', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const jobId = await h.reviewedJob();
  const [sent, removed, kept] = [await h.save(jobId), await h.save(jobId), await h.save(jobId)];
  await h.call(reviewComments.remove, { workspaceId, commentId: removed.commentId });
  const ask = (commentIds: string[]) => ({ workspaceId, jobId, commentIds });
  const gone = await h.refuse(
    jobs.continue,
    ask([kept.commentId, removed.commentId]),
    'COMMENT_NOT_FOUND',
  );
  assert.match(gone.message, /A draft was removed.*look at the comments again, then send them/);
  assert.equal((await h.get(jobId)).rounds?.length ?? 1, 1, 'no round was made');
  const round = await h.sendRound(jobId, [sent.commentId]);
  await h.end();
  const again = { ...ask([sent.commentId, kept.commentId]), jobId: round.jobId };
  const twice = await h.refuse(jobs.continue, again, 'INVALID_REQUEST');
  assert.match(twice.message, /sent already, as comment 1: look at the comments again/);
  const states = (await h.list(jobId)).map(({ number }) => number);
  assert.deepEqual(states, [1, null]);
  await h.refuse(jobs.continue, { workspaceId, jobId: round.jobId }, 'INVALID_REQUEST');
});

test('a job that has not ended takes no comments', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const jobId = await h.reviewedJob();
  const { commentId } = await h.save(jobId);
  const { job } = await h.call(jobs.continue, { workspaceId, jobId, message: 'More.' });
  const ask = { workspaceId, jobId: job.jobId, commentIds: [commentId], message: 'And.' };
  const refused = await h.refuse(jobs.continue, ask, 'INVALID_REQUEST');
  assert.match(refused.message, /job that has ended: wait for its end/);
});

test('a comment is refused with what to do instead', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const refusals: [RegExp, SaveBody][] = [
    [/must be the 2 lines from startLine to endLine/, { place: { ...examplePlace, lines: 'one' } }],
    [/must not be before startLine/, { place: { ...examplePlace, endLine: 3 } }],
    [/needed without repliesTo/, { place: null }],
  ];
  const { jobId: running } = await h.enqueue();
  assert.match((await h.refuseSave(running, {})).message, /wait for its result/);
  await h.end({ evidence: { changedFiles: [] } });
  assert.match((await h.refuseSave(running, {})).message, /no commit/);
  const jobId = await h.reviewedJob();
  for (const [pattern, more] of refusals) {
    assert.match((await h.refuseSave(jobId, more)).message, pattern);
  }
  const draft = await h.save(jobId);
  const reply = { place: null, repliesTo: draft.commentId };
  assert.match((await h.refuseSave(jobId, reply)).message, /that was sent/);
  const { jobId: next } = await h.sendRound(jobId, [draft.commentId]);
  assert.match(
    (await h.refuseSave(jobId, {})).message,
    new RegExp(`continued by round 2, ${next}: wait for its result`),
  );
  const changed = { place: null, commentId: draft.commentId };
  assert.match((await h.refuseSave(jobId, changed)).message, /was sent, and/);
  const body = { workspaceId, commentId: draft.commentId };
  await h.refuse(reviewComments.remove, body, 'INVALID_REQUEST');
});

test('a reply has the place of its thread, which one person resolves', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const jobId = await h.reviewedJob();
  const { commentId } = await h.save(jobId);
  const resolve = { workspaceId, commentId, isResolved: true };
  await h.refuse(reviewComments.resolve, resolve, 'INVALID_REQUEST');
  const round = await h.sendRound(jobId, [commentId]);
  await h.end();
  const reply = await h.save(round.jobId, { place: null, repliesTo: commentId, text: 'No.' });
  const { path, side, startLine, endLine, lines } = reply;
  assert.deepEqual({ path, side, startLine, endLine, lines }, examplePlace);
  const { comment } = await h.call(reviewComments.resolve, resolve);
  assert.ok(comment.resolvedAt !== null && comment.resolvedBy !== null);
  const again = await h.call(reviewComments.resolve, { ...resolve, isResolved: false });
  assert.equal(again.comment.resolvedAt, null);
  const ofReply = { ...resolve, commentId: reply.commentId };
  await h.refuse(reviewComments.resolve, ofReply, 'INVALID_REQUEST');
});

test('a draft is changed by its author only', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const jobId = await h.reviewedJob();
  const { commentId } = await h.save(jobId);
  const other = await h.mintToken(workspaceId, 'another');
  const change = { workspaceId, jobId, commentId, text: 'Better.' };
  await h.refuse(reviewComments.save, change, 'NOT_ALLOWED', other);
  await h.refuse(reviewComments.remove, { workspaceId, commentId }, 'NOT_ALLOWED', other);
  assert.equal((await h.call(reviewComments.save, change)).comment.text, 'Better.');
  assert.deepEqual(
    (await h.list(jobId)).map(({ text }) => text),
    ['Better.'],
  );
});

const PATCH = [
  'diff --git a/src/health.ts b/src/health.ts',
  '--- a/src/health.ts',
  '+++ b/src/health.ts',
  '@@ -3,4 +3,4 @@ import',
  ' // Tells whether it is up.',
  '-function health() {',
  '+export function health() {',
  '   return true;',
  ' }',
  'diff --git "a/\\303\\251.txt" "b/\\303\\251.txt"',
  '--- "a/\\303\\251.txt"',
  '+++ "b/\\303\\251.txt"',
  '@@ -1 +1 @@',
  '-a',
  '+key=[redacted]',
  '',
].join('\n');

test('a place within the hunks of the patch has the text of the patch', async (t) => {
  const h = await setup(t);
  const { agentId } = h;
  const { jobId } = await h.enqueue();
  const { claimGeneration = 0 } = await h.claim();
  const uploadId = await upload(h, PATCH, {
    fileName: 'job.patch',
    contentType: 'text/x-diff',
    job: { jobId, agentId, claimGeneration },
  });
  await h.complete(jobId, { evidence: { ...reviewed, patch: { uploadId, sizeBytes: 80 } } });
  const accepted = [
    examplePlace,
    { ...examplePlace, side: 'base', lines: 'function health() {\n  return true;' },
    { ...examplePlace, startLine: 400, endLine: 400, lines: 'outside of the hunks' },
    { ...examplePlace, path: 'src/other.ts', lines: 'not\nin the patch' },
    { path: 'é.txt', side: 'base', startLine: 1, endLine: 1, lines: 'a' },
    { path: 'é.txt', side: 'result', startLine: 1, endLine: 1, lines: 'key=hunter2' },
  ] as const;
  for (const place of accepted) await h.save(jobId, { place });
  const refused = [
    { ...examplePlace, lines: 'function health() {\n  return true;' },
    { ...examplePlace, side: 'base' },
    { ...examplePlace, startLine: 5, endLine: 6 },
    { path: 'é.txt', side: 'base', startLine: 1, endLine: 1, lines: 'b' },
  ] as const;
  for (const place of refused) {
    const { message } = await h.refuseSave(jobId, { place });
    assert.match(message, /not the text of these lines in the patch/, JSON.stringify(place));
  }
});

test('the texts of a round are bounded', async (t) => {
  const h = await setup(t);
  const jobId = await h.reviewedJob();
  const long = {
    place: { ...examplePlace, endLine: 4, lines: 'x'.repeat(COMMENT_LINES_CHARS_MAX) },
    text: 'y'.repeat(COMMENT_CHARS_MAX),
  };
  const ids: string[] = [];
  const count = Math.ceil(COMMENTS_SENT_CHARS_MAX / (COMMENT_LINES_CHARS_MAX + COMMENT_CHARS_MAX));
  while (ids.length < count) ids.push((await h.save(jobId, long)).commentId);
  const { workspaceId } = h;
  const all = { workspaceId, jobId, commentIds: ids };
  assert.match((await h.refuse(jobs.continue, all, 'LIMIT_REACHED')).message, /send fewer/);
  await h.sendRound(jobId, ids.slice(1));
});

test('a work takes no more comments than its limit, and its drafts can still be changed', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const jobId = await h.reviewedJob();
  const { commentId } = await h.save(jobId);
  for (let count = 1; count < REVIEW_COMMENTS_MAX; count += 1) await h.save(jobId);
  const more = { workspaceId, jobId, place: examplePlace, text: 'More.' };
  await h.refuse(reviewComments.save, more, 'LIMIT_REACHED');
  await h.call(reviewComments.save, { workspaceId, jobId, commentId, text: 'Changed.' });
});

test('answers and fates are those of the agent that holds the round', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const jobId = await h.reviewedJob();
  const [one, two, three] = [await h.save(jobId), await h.save(jobId), await h.save(jobId)];
  const round = await h.sendRound(jobId, [one.commentId, two.commentId]);
  const { jobToken } = await h.claim();
  const held = { workspaceId, jobId: round.jobId, agentId: h.agentId, claimGeneration: 1 };
  const said = { ...held, number: 1, word: 'changed', note: 'It does.' } as const;
  await h.refuse(reviewComments.answer, said, 'NOT_ALLOWED', jobToken);
  const late = { ...said, claimGeneration: 7 };
  await h.refuse(reviewComments.answer, late, 'CLAIM_GENERATION_MISMATCH');
  await h.refuse(reviewComments.answer, { ...said, number: 3 }, 'COMMENT_NOT_FOUND');
  const { comment } = await h.answer(round.jobId, 1);
  assert.deepEqual([comment.answer?.word, comment.fate], ['changed', null]);

  await h.call(reviewComments.resolve, {
    workspaceId,
    commentId: two.commentId,
    isResolved: true,
  });
  const fate = (number: number): CommentFate => ({
    number,
    state: 'untouched',
    path: examplePlace.path,
    startLine: 4,
    endLine: 5,
  });
  const completion = { ...held, outcome: 'done' as const, evidence: reviewed };
  const fates = { ...completion, commentFates: [fate(1), fate(2), fate(3), fate(9)] };
  await h.refuse(jobs.complete, fates, 'NOT_ALLOWED', jobToken);
  await h.refuse(jobs.complete, { ...fates, claimGeneration: 7 }, 'CLAIM_GENERATION_MISMATCH');
  await h.call(jobs.complete, fates);
  const [first, second, third] = await h.list(jobId);
  const { number: _, ...place } = fate(1);
  assert.deepEqual(first?.fate, {
    ...place,
    jobId: round.jobId,
    commitSha: reviewed.commitSha,
  });
  assert.deepEqual(first?.answer?.word, 'changed', 'the word of the tool stays beside it');
  assert.equal(second?.fate, null, 'it was resolved');
  assert.deepEqual([third?.commentId, third?.fate], [three.commentId, null], 'it is a draft');
  await h.refuse(reviewComments.answer, said, 'JOB_ALREADY_FINISHED');
});

test('retention deletes the comments on the results of the jobs that it deletes', async (t) => {
  const h = await setup(t);
  const { database } = h.hub;
  const jobId = await h.reviewedJob();
  const { commentId } = await h.save(jobId);
  const round = await h.sendRound(jobId, [commentId]);
  await h.end();
  const reply = await h.save(round.jobId, { place: null, repliesTo: commentId });
  const kept = await h.save(round.jobId);
  await database.write(h.workspaceId, (tx) => deleteComments(tx, h.workspaceId, [jobId]));
  const left = (await h.list(round.jobId)).map((each) => each.commentId);
  assert.deepEqual(left, [kept.commentId]);
  assert.notEqual(reply.commentId, kept.commentId);
});
