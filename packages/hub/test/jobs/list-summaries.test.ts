import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { endpoints, type RequestOf, verdicts } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';
import { seedJobs } from '../support/seed-database.ts';

const { agents, jobEvents, jobs, queue, repositories } = endpoints;
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
async function measurePage(
  h: Setup,
  acceptEncoding: string,
  fields: ListBody['fields'] = [],
): Promise<number> {
  const response = await h.hub.server.inject({
    method: 'POST',
    url: jobs.list.path,
    headers: { authorization: `Bearer ${h.home.token}`, 'accept-encoding': acceptEncoding },
    payload: { workspaceId: h.workspaceId, view: 'summary', fields },
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
    jobId,
    title: '# Add a check',
    status: 'pending',
    kind: 'work',
    repoId: h.repoId,
    attempt: 0,
    createdAt: pending?.createdAt,
    createdBy: { id: 'service:test', name: 'test' },
  });
  await h.claim();
  const evidence = { commitSha: 'a'.repeat(40), changedFiles: ['a.ts'] };
  await h.complete(jobId, { evidence });
  const [done] = await list(h, { fields: ['evidence'] });
  assert.deepEqual(Object.keys(done ?? {}).toSorted(), [
    ...['agentId', 'attempt', 'changed', 'createdAt', 'createdBy', 'evidence', 'finishedAt'],
    ...['jobId', 'kind', 'repoId', 'startedAt', 'status', 'title'],
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

test('a summary has the cost that the usage names', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  await h.complete(jobId, { usage: { inputTokens: 5, costUsd: 0.84 } });
  assert.equal((await list(h))[0]?.costUsd, 0.84);
});

test('a summary of a pending job has the reason why it waits, as the job itself, on request', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const reasons = async (fields: ListBody['fields'] = ['waitingReason']) => {
    const listed = await list(h, { fields });
    for (const { jobId, waitingReason } of listed) {
      const { waitingFor } = await h.get(jobId);
      assert.equal(waitingReason, waitingFor?.reason, jobId);
    }
    return listed.map(({ waitingReason }) => waitingReason);
  };
  const { jobId: first } = await h.enqueue({ concurrencyKey: 'deploy', priority: 9 });
  await h.claim();
  await h.enqueue({ concurrencyKey: 'deploy' });
  await h.enqueue({ dependsOn: [first] });
  const { job: delayed } = await h.enqueue({ delayMs: 60_000 });
  await h.enqueue();
  await h.enqueue({ requirements: { labels: { os: 'plan9' } } });
  const holds = ['not_yet_available', 'dependencies', 'concurrency_key', undefined];
  const free = ['no_agent_with_capabilities', 'queue_position', ...holds];
  // The first job with a free key is ready until a claim meets it.
  await h.claim();
  const { jobId: last } = await h.enqueue();
  assert.deepEqual((await reasons()).slice(0, 2), ['queue_position', 'no_agent_with_capabilities']);
  await h.call(jobs.cancel, { workspaceId, jobId: last });
  assert.deepEqual((await reasons()).slice(1), [free[0], undefined, ...holds]);
  assert.deepEqual((await reasons(['waitingReason', 'prompt'])).length, 7);
  const [shown] = (await list(h, { fields: ['waitingReason'] })).filter(
    ({ jobId }) => jobId === delayed.jobId,
  );
  assert.equal(shown?.availableAt, delayed.availableAt);
  assert.equal((await list(h))[1]?.waitingReason, undefined, 'only on request');
  await h.call(queue.pause, { workspaceId, repoId });
  assert.equal((await reasons())[1], 'queue_paused');
  await h.call(queue.resume, { workspaceId, repoId });
  const beat = (capabilities: object) =>
    h.call(agents.heartbeat, { workspaceId, machineFingerprint: 'first', capabilities });
  await beat({ canWrite: true, labels: { os: 'plan9' }, maxConcurrentJobs: 1 });
  assert.equal((await reasons())[1], 'agents_at_capacity');
  await beat({ canWrite: true, reposAllowed: ['repo_other'] });
  assert.equal((await reasons())[1], 'no_agent_serves_repository');
  const { repo } = await h.call(repositories.get, { workspaceId, repoId });
  const { remoteUrlHash } = repo;
  await h.call(repositories.upsert, { workspaceId, remoteUrlHash, status: 'archived' });
  assert.equal((await reasons())[1], 'repository_archived');
});

test('the reasons of a page cost the same number of statements, however many jobs it has', async (t) => {
  const h = await startQueueWorld(t);
  const { reader } = h.hub.database;
  const count = async () => {
    const statements = [t.mock.method(reader, 'allSql'), t.mock.method(reader, 'firstSql')];
    await list(h, { fields: ['waitingReason'] });
    const calls = statements.reduce((sum, method) => sum + method.mock.callCount(), 0);
    for (const method of statements) method.mock.restore();
    return calls;
  };
  const enqueue = async (jobs: number) => {
    for (let n = 0; n < jobs; n++) await h.enqueue({ requirements: { labels: { n: `${n % 5}` } } });
  };
  // A page is read in two pieces, of which the first has 20 jobs at most.
  await enqueue(22);
  const ofFew = await count();
  assert.ok(ofFew > 2, 'the statements are counted');
  await enqueue(28);
  assert.equal(await count(), ofFew);
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
  const pending = await startQueueWorld(t);
  for (let n = 0; n < 50; n++) await pending.enqueue({ prompt: prompts[n % 4]?.() ?? '' });
  for (const world of [h, pending]) {
    for (const encoding of ['br', 'gzip']) {
      const bytes = await measurePage(world, encoding, ['waitingReason']);
      assert.ok(bytes <= PAGE_BYTES_MAX, `${bytes} bytes with ${encoding}`);
    }
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
  assert.deepEqual(await titlesOf(h, { text: 'LogOut' }), ['Login again'], 'in the prompt');
  assert.deepEqual(await titlesOf(h, { text: 'nothing like it' }), []);
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

test('a text is found in results, and in the log of the latest attempt, page by page', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, agentId } = h;
  const ids: string[] = [];
  for (const word of ['one', 'two', 'three']) {
    const { jobId } = await h.enqueue({ prompt: `Job ${word}` });
    const { claimGeneration } = await h.claim();
    const fence = { workspaceId, agentId, jobId, claimGeneration: claimGeneration ?? 0 };
    const message = `Started\n\u001b[31mERROR\u001b[0m: connect ECONN${word.toUpperCase()}\n`;
    await h.call(jobEvents.append, { ...fence, entries: [{ logSeq: 1, message }] });
    await h.complete(jobId, { message: `Result of ${word}` });
    ids.push(jobId);
  }
  assert.deepEqual(await titlesOf(h, { text: 'result of t' }), ['Job three', 'Job two']);
  assert.deepEqual(await titlesOf(h, { logText: 'error: connect econnt' }), [
    'Job three',
    'Job two',
  ]);
  assert.deepEqual(await titlesOf(h, { logText: 'Started', text: 'of one' }), ['Job one']);
  assert.deepEqual(await titlesOf(h, { logText: 'Result' }), []);
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const body = { workspaceId, logText: 'econnt', limit: 1, ...(cursor && { cursor }) };
    const page = await h.call(jobs.list, body);
    assert.ok(page.jobs.length <= 1);
    found.push(...page.jobs.map(({ jobId }) => jobId));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  assert.deepEqual(found, [ids[2], ids[1]]);
  const grouped = { workspaceId, view: 'summary', logText: 'x', limitPerStatus: 1 } as const;
  await h.refuse(jobs.list, grouped, 'INVALID_REQUEST');
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

test('a list shows the verdict of jobs that are done; evidence of any form is stored', async (t) => {
  const h = await startQueueWorld(t);
  const verdictAfter = async (body: Parameters<Setup['complete']>[1]) => {
    const { jobId } = await h.enqueue();
    await h.claim();
    const { job } = await h.complete(jobId, body);
    assert.deepEqual(job.evidence, body?.evidence);
    const [listed] = await list(h);
    assert.equal(listed?.verdict ?? null, job.verdict);
    return job.verdict;
  };
  const commitSha = 'a'.repeat(40);
  for (const verdict of verdicts) {
    assert.equal(await verdictAfter({ evidence: { commitSha, verdict } }), verdict);
  }
  assert.equal(await verdictAfter({ evidence: { commitSha } }), null);
  const odd = { commitSha, verdict: ['great'], checks: 'green', branch: 7, gaps: null };
  assert.equal(await verdictAfter({ evidence: odd }), null, 'a form that is unknown here');
  const failed = { outcome: 'failed', evidence: { commitSha, verdict: 'verified' } } as const;
  assert.equal(await verdictAfter(failed), null, 'a failed job proves nothing');
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

test('the newest of each status are listed together, newest first', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const running = await h.enqueue();
  await h.claim();
  const pending = [await h.enqueue(), await h.enqueue(), await h.enqueue()];
  const newest = [pending[2]?.jobId, pending[1]?.jobId, running.jobId];
  const listed = await list(h, { limitPerStatus: 2, fields: ['waitingReason'] });
  assert.deepEqual(
    listed.map(({ jobId }) => jobId),
    newest,
  );
  assert.deepEqual(
    (await list(h, { limitPerStatus: 2, statuses: ['running'] })).map(({ status }) => status),
    ['running'],
  );
  const wrong = [{ view: 'whole' }, { fields: ['prompt'] }, { cursor: 'am9iXzE' }];
  for (const more of wrong) {
    const body = { workspaceId, view: 'summary', limitPerStatus: 2, ...more };
    await h.refuse(jobs.list, body as RequestOf<typeof jobs.list>, 'INVALID_REQUEST');
  }
});
