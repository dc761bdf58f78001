import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';
import { seedJobs } from '../support/seed-database.ts';

const { jobs } = endpoints;
const PAGE_BYTES_MAX = 20 * 1_024;

type Setup = Awaited<ReturnType<typeof startQueueWorld>>;
type ListBody = Partial<RequestOf<typeof jobs.list>>;

async function list(h: Setup, body: ListBody = {}) {
  const request = { workspaceId: h.workspaceId, view: 'summary', ...body } as const;
  return (await h.call(jobs.list, request)).jobs;
}

const titlesOf = async (h: Setup, body: ListBody) =>
  (await list(h, body)).map(({ title }) => title).toSorted();

/** The bytes of a page as they travel, with and without compression. */
async function measurePage(h: Setup, acceptEncoding: string): Promise<number> {
  const response = await h.hub.server.inject({
    method: 'POST',
    url: jobs.list.path,
    headers: { authorization: `Bearer ${h.home.token}`, 'accept-encoding': acceptEncoding },
    payload: { workspaceId: h.workspaceId, view: 'summary' },
  });
  assert.equal(response.statusCode, 200);
  return response.rawPayload.length;
}

test('a summary has the title and what applies, and no long text', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ prompt: '\n\t# Add\u0007 a   check\r\nwith a test' });
  const [pending, ...others] = await list(h);
  assert.deepEqual(others, []);
  assert.deepEqual(pending, {
    ...{ jobId, title: '# Add a check', status: 'pending', kind: 'work', repoId: h.repoId },
    ...{ attempt: 0, createdAt: pending?.createdAt },
  });
  await h.claim();
  const evidence = { commitSha: 'a'.repeat(40), changedFiles: ['a.ts'] };
  await h.complete(jobId, { evidence });
  const [done] = await list(h, { fields: ['evidence'] });
  assert.deepEqual(Object.keys(done ?? {}).toSorted(), [
    ...['agentId', 'attempt', 'changed', 'createdAt', 'evidence', 'finishedAt', 'jobId', 'kind'],
    ...['repoId', 'startedAt', 'status', 'title'],
  ]);
  assert.deepEqual([done?.changed, done?.evidence], [true, evidence]);
});

test('without a view, a list has whole jobs, as the specification describes them', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ prompt: 'Add a check.\nWith a test.' });
  const [listed] = (await h.call(jobs.list, { workspaceId: h.workspaceId })).jobs;
  assert.deepEqual(listed, (await h.get(jobId)).job);
  assert.equal(listed?.prompt, 'Add a check.\nWith a test.');
});

test('50 jobs answer in at most 20 KB, regardless of their prompts', async (t) => {
  const h = await startQueueWorld(t);
  const han = () => String.fromCharCode(randomInt(0x4e00, 0x9fff));
  const prompts = [
    () => 'x'.repeat(90_000),
    () => randomBytes(60_000).toString('base64'),
    () => Array.from({ length: 30_000 }, han).join(''),
    () => '"\\'.repeat(40_000),
  ];
  for (let n = 0; n < 50; n++) {
    const { jobId } = await h.enqueue({ prompt: prompts[n % 4]?.() ?? '' });
    await h.claim();
    await h.complete(jobId, { evidence: { changedFiles: ['x'.repeat(4_000)] } });
  }
  for (const encoding of ['br', 'gzip']) {
    const bytes = await measurePage(h, encoding);
    assert.ok(bytes <= PAGE_BYTES_MAX, `${bytes} bytes with ${encoding}`);
  }
  // As short lines, what people write: small enough even for a client that cannot decompress.
  const other = await startQueueWorld(t);
  for (let n = 0; n < 50; n++) {
    await other.enqueue({ prompt: `Add a health check to part ${n}.\n${'x'.repeat(90_000)}` });
  }
  const plain = await measurePage(other, 'identity');
  assert.ok(plain <= PAGE_BYTES_MAX, `${plain} bytes uncompressed`);
});

test('a list is filtered by several statuses, by text and by time, alone and together', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId: first } = await h.enqueue({ prompt: 'Fix the LOGIN' });
  h.clock.advance(3_600_000);
  const fromAt = new Date(h.clock.nowMs()).toISOString();
  await h.enqueue({ prompt: 'Straße prüfen' });
  h.clock.advance(1);
  const untilAt = new Date(h.clock.nowMs()).toISOString();
  await h.enqueue({ prompt: 'Login again\nlogout' });
  await h.claim();
  assert.deepEqual(await titlesOf(h, { statuses: ['running', 'failed'] }), ['Fix the LOGIN']);
  assert.deepEqual(await titlesOf(h, { statuses: ['running', 'failed'], status: 'failed' }), []);
  assert.deepEqual(await titlesOf(h, { statuses: [] }), []);
  assert.deepEqual(await titlesOf(h, { text: 'login' }), ['Fix the LOGIN', 'Login again']);
  assert.deepEqual(await titlesOf(h, { text: 'PRÜFEN' }), ['Straße prüfen']);
  assert.deepEqual(await titlesOf(h, { text: 'logout' }), [], 'only titles are searched');
  assert.deepEqual(await titlesOf(h, { text: first.slice(-8) }), ['Fix the LOGIN']);
  assert.deepEqual(await titlesOf(h, { fromAt }), ['Login again', 'Straße prüfen']);
  assert.deepEqual(await titlesOf(h, { fromAt, untilAt }), ['Straße prüfen']);
  assert.deepEqual(await titlesOf(h, { untilAt: fromAt }), ['Fix the LOGIN']);
  const together = { text: 'login', statuses: ['pending'], fromAt, repoId: h.repoId } as const;
  assert.deepEqual(await titlesOf(h, { ...together, statuses: ['pending'] }), ['Login again']);
  const invalid = { workspaceId: h.workspaceId, fromAt: '2026-12-31T23:59:60Z' };
  await h.refuse(jobs.list, invalid, 'INVALID_REQUEST');
});

test('a text is found on later pages, also in jobs of an older version', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue({ prompt: 'The needle' });
  const startMs = h.clock.nowMs() + 1_000;
  const seeds = { pending: 0, finished: 1_200, startMs, repoIds: [h.repoId] };
  await seedJobs(h.hub.database, { ...seeds, workspaceId, agentIds: [h.agentId] });
  const found: string[] = [];
  let cursor: string | null | undefined;
  let pages = 0;
  do {
    const body = {
      workspaceId,
      view: 'summary',
      text: 'needle',
      ...(cursor && { cursor }),
    } as const;
    const page = await h.call(jobs.list, body);
    found.push(...page.jobs.map((job) => job.jobId));
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== null);
  assert.deepEqual(found, [jobId]);
  assert.equal(pages, 2, 'each page examines 1,000 jobs');
  // Seeded rows have no title, as those of a version before titles.
  const [seeded] = await list(h, { limit: 1 });
  assert.ok((seeded?.title.length ?? 0) > 0);
});

test('counts are by status, follow the filters, and stop at 1,000', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId, agentId } = h;
  const count = async (filter: Omit<RequestOf<typeof jobs.counts>, 'workspaceId'> = {}) =>
    h.call(jobs.counts, { workspaceId, ...filter });
  const none = { pending: 0, running: 0, done: 0, failed: 0, blocked: 0, canceled: 0 };
  assert.deepEqual(await count(), { ok: true, counts: none, capped: [] });
  await h.enqueue();
  await h.enqueue({ kind: 'pr_review' });
  await h.claim();
  const expected = { ...none, pending: 1, running: 1 };
  for (const filter of [{}, { repoId }, { fromAt: new Date(0).toISOString() }]) {
    assert.deepEqual((await count(filter)).counts, expected, JSON.stringify(filter));
  }
  const reviews = await count({ kind: 'pr_review' });
  assert.deepEqual(reviews.counts, { ...none, pending: 1 });
  assert.deepEqual((await count({ agentId })).counts, { ...none, running: 1 });
  assert.deepEqual((await count({ agentId, kind: 'pr_review' })).counts, none);
  assert.deepEqual((await count({ repoId: 'repo_none' })).counts, none);
  const seeds = { pending: 0, finished: 2_000, startMs: h.clock.nowMs(), repoIds: [repoId] };
  await seedJobs(h.hub.database, { ...seeds, workspaceId, agentIds: [agentId] });
  for (const filter of [{}, { repoId }, { agentId }]) {
    const { counts, capped } = await count(filter);
    assert.deepEqual([counts.done, counts.failed, capped], [1_000, 20, ['done']]);
  }
});

test('a job that is done without the change it was to make says so', async (t) => {
  const h = await startQueueWorld(t);
  const changedAfter = async (
    body: Parameters<Setup['complete']>[1],
    draft: Parameters<Setup['enqueue']>[0] = {},
  ) => {
    const { jobId } = await h.enqueue(draft);
    await h.claim();
    const { job } = await h.complete(jobId, body);
    assert.equal((await h.get(jobId)).job.changed, job.changed);
    return job.changed;
  };
  const unchanged = { evidence: { changedFiles: [] } };
  assert.equal(await changedAfter(unchanged), false);
  assert.equal(await changedAfter({ evidence: { changedFiles: ['a.ts'] } }), true);
  assert.equal(await changedAfter({ evidence: { commitSha: 'a'.repeat(40) } }), true);
  assert.equal(await changedAfter({}), null, 'no evidence');
  assert.equal(await changedAfter({ evidence: {} }), null, 'the evidence does not say');
  assert.equal(await changedAfter({ ...unchanged, outcome: 'failed' }), null);
  assert.equal(await changedAfter(unchanged, { kind: 'pr_review' }), null, 'only to read');
  const reads = { requirements: { canWrite: false } };
  assert.equal(await changedAfter(unchanged, reads), null, 'only to read');
});

test('a title is one line of at most 200 characters, never half a character', async (t) => {
  const h = await startQueueWorld(t);
  const titleOf = async (prompt: string) => (await h.enqueue({ prompt })).job.title;
  assert.equal(await titleOf(`${'a'.repeat(200)}\nb`), 'a'.repeat(200));
  assert.equal(await titleOf('a'.repeat(201)), `${'a'.repeat(199)}…`);
  const cut = await titleOf(`a${'😀'.repeat(200)}`);
  assert.ok(cut.isWellFormed() && cut.length <= 200, cut);
  assert.equal(await titleOf('\u6f22'.repeat(150)), `${'\u6f22'.repeat(99)}…`);
  assert.equal(await titleOf(' \n '), '');
});
