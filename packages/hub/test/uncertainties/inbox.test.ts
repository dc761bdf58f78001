import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALIKE_QUESTIONS_MAX, endpoints } from '@signalbox/contract';
import { type Decisions, startDecisionWorld } from '../support/decision-world.ts';

const { uncertainties, jobs } = endpoints;
const HOUR_MS = 3_600_000;

type Draft = Parameters<Decisions['ask']>[0];

/** A question of a job of its own, which waits for the answer. */
async function askBlocked(h: Decisions, draft: Draft = {}) {
  const { jobId, jobToken } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId, ...draft }, jobToken);
  await h.block(jobId);
  return { jobId, uncertaintyId };
}

/** All rows of the inbox, read in pages. */
async function readInbox(h: Decisions, limit: number) {
  const rows = [];
  let cursor: string | undefined;
  do {
    const page = await h.call(uncertainties.inbox, {
      workspaceId: h.workspaceId,
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    assert.ok(page.uncertainties.length <= limit);
    rows.push(...page.uncertainties);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

test('overdue questions come first, then deadlines, waiting jobs and age, over all pages', async (t) => {
  const h = await startDecisionWorld(t);
  const inMs = (ms: number) => new Date(h.clock.nowMs() + ms).toISOString();
  const ask = async (draft: Draft) => (await h.ask(draft)).uncertaintyId;
  const oldest = await ask({ prompt: 'The oldest?' });
  const tomorrow = await ask({ prompt: 'Tomorrow?', deadlineAt: inMs(24 * HOUR_MS) });
  const overdue = await ask({ prompt: 'Overdue?', deadlineAt: inMs(HOUR_MS) });
  const one = await askBlocked(h, { prompt: 'One waits?' });
  const three = await askBlocked(h, { prompt: 'Three wait?' });
  const { jobId: next } = await h.enqueue({ dependsOn: [three.jobId] });
  await h.enqueue({ dependsOn: [next] });
  const newest = await ask({ prompt: 'The newest?' });
  const soon = await ask({ prompt: 'Soon?', deadlineAt: inMs(2 * HOUR_MS) });
  await h.ask({ prompt: 'Assumed?', confidence: 1 });
  h.clock.advance(HOUR_MS);
  const order = [overdue, soon, tomorrow, three.uncertaintyId, one.uncertaintyId, oldest, newest];
  for (const limit of [2, 200]) {
    const rows = await readInbox(h, limit);
    assert.deepEqual(
      rows.map(({ uncertaintyId }) => uncertaintyId),
      order,
    );
    assert.deepEqual(
      rows.map(({ waitingJobs }) => waitingJobs),
      [0, 0, 0, 3, 1, 0, 0],
    );
    assert.equal(rows[0]?.overdue, true);
  }
  const { uncertainties: ofJob } = await h.call(uncertainties.inbox, {
    workspaceId: h.workspaceId,
    jobId: three.jobId,
  });
  assert.equal(ofJob.length, 1, 'the filters of lists hold');
});

test('questions with the same text and choices are one row, and get one answer', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const region = { prompt: 'Which region?', options: [{ value: 'eu' }, { value: 'us' }] };
  const asked = [];
  for (const context of ['one', 'two', 'three'])
    asked.push(await askBlocked(h, { ...region, context }));
  const { uncertaintyId: other } = await h.ask({ ...region, options: [{ value: 'eu' }] });
  const [row, alone] = await readInbox(h, 1);
  const ids = asked.map(({ uncertaintyId }) => uncertaintyId);
  assert.deepEqual([row?.uncertaintyId, ...(row?.alikeIds ?? [])], ids);
  assert.equal(row?.waitingJobs, 3);
  assert.deepEqual([alone?.uncertaintyId, alone?.alikeIds], [other, undefined]);
  await h.answer(ids[1] ?? '', { value: 'us' });
  const body = {
    workspaceId,
    uncertaintyIds: ids,
    mode: 'answered',
    value: 'eu',
    confidence: 1,
  } as const;
  const { results } = await h.call(uncertainties.resolveAlike, { ...body, undoMs: 10_000 });
  assert.deepEqual(
    results.map(({ result, error }) => [result, error]),
    [
      ['resolved', undefined],
      ['refused', 'ALREADY_RESOLVED'],
      ['resolved', undefined],
    ],
  );
  // Each is withdrawn by itself.
  const [first, , last] = results;
  const { uncertainty } = await h.call(uncertainties.withdrawResolution, {
    workspaceId,
    uncertaintyId: ids[0] ?? '',
    resolutionId: first?.resolutionId ?? '',
  });
  assert.equal(uncertainty.status, 'open');
  h.clock.advance(10_001);
  await h.hub.loops.handOvers.runOnce();
  const states = [];
  for (const { jobId } of asked) states.push((await h.get(jobId)).job);
  assert.deepEqual(
    states.map(({ status, decisions }) => [status, decisions.at(-1)?.value]),
    [
      ['blocked', undefined],
      ['pending', 'us'],
      ['pending', 'eu'],
    ],
  );
  const { events } = await h.call(endpoints.jobEvents.listForJob, {
    workspaceId,
    jobId: asked[2]?.jobId ?? '',
    limit: 50,
  });
  assert.ok(
    events.some(({ data }) => JSON.stringify(data).includes(last?.resolutionId ?? '-')),
    'the answer is in the timeline of its job',
  );
});

test('approvals are answered together only if they are identical and of low impact', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const asks = async (draft: Draft) => {
    const first = (await h.ask({ kind: 'approval', ...draft })).uncertaintyId;
    return [first, (await h.ask({ kind: 'approval', ...draft })).uncertaintyId];
  };
  const low = await asks({ prompt: 'May I read?', impact: 'Low', context: 'ls' });
  const [otherContext = ''] = await asks({ prompt: 'May I read?', impact: 'low', context: 'cat' });
  const unsaid = await asks({ prompt: 'May I write?' });
  const high = await asks({ prompt: 'May I drop the table?', impact: 'high' });
  const rows = await readInbox(h, 200);
  assert.equal(rows.length, 6);
  assert.deepEqual(
    rows.filter((row) => row.alikeIds).map((row) => row.uncertaintyId),
    [low[0], otherContext],
  );
  const body = { workspaceId, mode: 'answered', value: 'yes', confidence: 1 } as const;
  for (const uncertaintyIds of [
    unsaid,
    high,
    [...low, otherContext],
    [low[0] ?? '', low[0] ?? ''],
  ]) {
    const { details } = await h.refuse(
      uncertainties.resolveAlike,
      { ...body, uncertaintyIds },
      'INVALID_REQUEST',
    );
    assert.match(String(details?.[0]?.path), /^\/uncertaintyIds\/\d$/);
  }
  const { counts } = await h.call(uncertainties.counts, { workspaceId });
  assert.equal(counts.open, 8, 'a refused call answers none');
  const { results } = await h.call(uncertainties.resolveAlike, { ...body, uncertaintyIds: low });
  assert.deepEqual(
    results.map(({ result }) => result),
    ['resolved', 'resolved'],
  );
});

test('a row has at most as many questions as one call answers', async (t) => {
  const h = await startDecisionWorld(t);
  for (let at = 0; at < ALIKE_QUESTIONS_MAX + 2; at++) await h.ask();
  const rows = await readInbox(h, 200);
  assert.deepEqual(
    rows.map(({ alikeIds = [] }) => alikeIds.length + 1),
    [ALIKE_QUESTIONS_MAX, 2],
  );
  const [row] = rows;
  const { results } = await h.call(uncertainties.resolveAlike, {
    workspaceId: h.workspaceId,
    mode: 'dismissed',
    value: '',
    confidence: 1,
    uncertaintyIds: [row?.uncertaintyId ?? '', ...(row?.alikeIds ?? [])],
  });
  assert.ok(results.every(({ result }) => result === 'resolved'));
  assert.equal((await readInbox(h, 200)).length, 1);
  assert.deepEqual((await h.call(jobs.list, { workspaceId: h.workspaceId })).jobs, []);
});

test('the tool of a job without a run reads its own questions, and no others', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue({ priority: 100 });
  const { jobToken = '' } = await h.claim();
  const create = { workspaceId, prompt: 'Which port?', kind: 'choice', confidence: 0 } as const;
  const { uncertaintyId } = await h.call(
    uncertainties.createWithAutoPromotion,
    { ...create, autoPromoteThreshold: 1 },
    jobToken,
  );
  const other = await h.startJob();
  await h.ask({ jobId: other.jobId });
  const own = await h.call(uncertainties.list, { workspaceId, jobId }, jobToken);
  assert.deepEqual(
    own.uncertainties.map((each) => each.uncertaintyId),
    [uncertaintyId],
  );
  for (const filter of [{}, { jobId: other.jobId }, { jobId, runId: h.runId }]) {
    await assert.rejects(
      h.call(uncertainties.list, { workspaceId, ...filter }, jobToken),
      /NOT_ALLOWED/,
    );
  }
  const ref = { workspaceId, uncertaintyId };
  assert.equal((await h.call(uncertainties.get, ref, jobToken)).uncertainty.runId, null);
});

test('an answer is on its job: question, answer, who and when, also in the timeline', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue({ priority: 100 });
  await h.claim();
  const { uncertaintyId } = await h.call(uncertainties.createWithAutoPromotion, {
    workspaceId,
    jobId,
    prompt: 'Which port?',
    kind: 'choice',
    confidence: 0,
  });
  await h.answer(uncertaintyId, { value: '8080' });
  const blocked = await h.startJob();
  const { uncertaintyId: second } = await h.ask({ jobId: blocked.jobId });
  await h.block(blocked.jobId);
  await h.answer(second, { mode: 'dismissed', value: '' });
  const linesOf = async (id: string) => {
    const { events } = await h.call(endpoints.jobEvents.listForJob, {
      workspaceId,
      jobId: id,
      limit: 50,
    });
    return events.flatMap(({ message, data }) => (data?.decision ? [message] : []));
  };
  assert.deepEqual(await linesOf(jobId), ['test answered “Which port?”: 8080']);
  assert.deepEqual(await linesOf(blocked.jobId), ['test dismissed “Which colour?”']);
  const [decision] = (await h.get(jobId)).job.decisions;
  const { resolvedAt, ...said } = decision ?? { resolvedAt: '' };
  assert.deepEqual(said, {
    uncertaintyId,
    prompt: 'Which port?',
    mode: 'answered',
    value: '8080',
    by: 'test',
  });
  assert.ok(resolvedAt);
});
