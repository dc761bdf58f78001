import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs, agents, queue, repositories } = endpoints;

type Setup = Awaited<ReturnType<typeof startQueueWorld>>;
const idsOf = (list: { jobId: string }[]) => list.map(({ jobId }) => jobId);

async function listIds(h: Setup, filter: Partial<RequestOf<typeof jobs.list>> = {}) {
  const { jobs: list } = await h.call(jobs.list, { workspaceId: h.workspaceId, ...filter });
  return idsOf(list);
}

async function waitingFor(h: Setup, jobId: string) {
  return (await h.get(jobId)).waitingFor;
}

/** The agents that `waitingFor` names, each with its obstacle. */
async function obstacles(h: Setup, jobId: string): Promise<string[]> {
  const named = (await waitingFor(h, jobId))?.agents ?? [];
  return named.map(({ displayName, obstacle }) => `${displayName} ${obstacle}`).sort();
}

test('a list is filtered by status, kind, repository and agent, alone and together', async (t) => {
  const h = await startQueueWorld(t);
  const otherRepo = await h.addRepository(h.home, 'second');
  const { jobId: running } = await h.enqueue({ priority: 9 });
  await h.claim();
  const { jobId: review } = await h.enqueue({ kind: 'pr_review' });
  const { jobId: elsewhere } = await h.call(jobs.enqueue, {
    workspaceId: h.workspaceId,
    repoId: otherRepo,
    kind: 'pr_review',
    prompt: 'Look.',
  });
  assert.deepEqual(await listIds(h), [elsewhere, review, running]);
  assert.deepEqual(await listIds(h, { status: 'running' }), [running]);
  assert.deepEqual(await listIds(h, { kind: 'pr_review' }), [elsewhere, review]);
  assert.deepEqual(await listIds(h, { repoId: otherRepo }), [elsewhere]);
  assert.deepEqual(await listIds(h, { agentId: h.agentId }), [running]);
  const both = { kind: 'pr_review', repoId: h.repoId, status: 'pending' } as const;
  assert.deepEqual(await listIds(h, both), [review]);
  assert.deepEqual(await listIds(h, { ...both, status: 'running' }), []);
  const work = { kind: 'work', repoId: h.repoId } as const;
  assert.deepEqual(await listIds(h, work), [running], 'among jobs of every status');
  assert.deepEqual(await listIds(h, { runId: 'run_none' }), []);
});

test('pages of a list hold each job once, newest first, while others are enqueued', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const before: string[] = [];
  for (let i = 0; i < 25; i++) before.unshift((await h.enqueue()).jobId);
  const seen: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await h.call(jobs.list, { workspaceId, limit: 4, ...(cursor && { cursor }) });
    assert.ok(page.jobs.length <= 4);
    seen.push(...idsOf(page.jobs));
    cursor = page.nextCursor;
    await Promise.all([h.enqueue(), h.enqueue()]);
  } while (cursor !== null);
  assert.deepEqual(seen, before);
});

test('the last page has no cursor, even when it is full', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  for (let i = 0; i < 4; i++) await h.enqueue();
  const first = await h.call(jobs.list, { workspaceId, limit: 2 });
  assert.ok(first.nextCursor !== null);
  const { nextCursor } = await h.call(jobs.list, {
    workspaceId,
    limit: 2,
    cursor: first.nextCursor,
  });
  assert.equal(nextCursor, null);
});

test('a list has 50 jobs a page by default, and up to 200', async (t) => {
  const h = await startQueueWorld(t);
  for (let i = 0; i < 201; i++) await h.enqueue();
  assert.equal((await listIds(h)).length, 50);
  assert.equal((await listIds(h, { limit: 200 })).length, 200);
});

test('queuePosition counts the jobs of the repository that go first', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId: first } = await h.enqueue();
  const { jobId: second } = await h.enqueue({ kind: 'pr_review' });
  const { jobId: urgent } = await h.enqueue({ priority: 1 });
  const { jobId: later } = await h.enqueue({ delayMs: 1_000 });
  const position = async (jobId: string) => (await h.get(jobId)).queuePosition;
  assert.deepEqual(await Promise.all([urgent, first, second, later].map(position)), [
    1,
    2,
    3,
    null,
  ]);
  assert.equal((await h.claim()).jobId, urgent);
  assert.deepEqual(await Promise.all([urgent, first, second].map(position)), [null, 1, 2]);
});

test('waitingFor says which hold keeps a job from being claimed', async (t) => {
  const h = await startQueueWorld(t);
  // Running jobs without the key `deploy`: no job waits for them.
  for (const other of [{ concurrencyKey: 'another key' }, {}]) {
    const { jobId } = await h.enqueue(other);
    assert.equal((await h.claim()).jobId, jobId);
  }
  const { jobId: delayed } = await h.enqueue({ delayMs: 1_000 });
  const { jobId: needed } = await h.enqueue({ priority: 5, concurrencyKey: 'deploy' });
  const { jobId: dependent } = await h.enqueue({ dependsOn: [needed] });
  assert.equal((await h.claim()).jobId, needed);
  const { jobId: keyed } = await h.enqueue({ concurrencyKey: 'deploy' });
  assert.equal((await waitingFor(h, delayed))?.reason, 'not_yet_available');
  assert.deepEqual((await waitingFor(h, dependent))?.jobIds, [needed]);
  const neededJob = { jobId: needed, title: 'Do it.', status: 'running' };
  assert.deepEqual((await waitingFor(h, dependent))?.jobs, [neededJob]);
  assert.deepEqual((await waitingFor(h, keyed))?.jobs, [neededJob]);
  assert.equal((await waitingFor(h, dependent))?.reason, 'dependencies');
  assert.deepEqual((await waitingFor(h, keyed))?.jobIds, [needed]);
  assert.equal((await waitingFor(h, keyed))?.reason, 'concurrency_key');
  assert.equal(await waitingFor(h, needed), null);
  await h.complete(needed, { outcome: 'failed' });
  const stuck = await waitingFor(h, dependent);
  assert.match(stuck?.message ?? '', /retry/i);
});

test('waitingFor says when the queue is paused or the repository archived', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const { jobId } = await h.enqueue();
  for (const extent of [{}, { repoId }]) {
    await h.call(queue.pause, { workspaceId, ...extent });
    assert.equal((await waitingFor(h, jobId))?.reason, 'queue_paused');
    await h.call(queue.resume, { workspaceId, ...extent });
    assert.equal((await waitingFor(h, jobId))?.reason, 'queue_position');
  }
  const { repo } = await h.call(repositories.get, { workspaceId, repoId });
  const { remoteUrlHash } = repo;
  await h.call(repositories.upsert, { workspaceId, remoteUrlHash, status: 'archived' });
  assert.equal((await waitingFor(h, jobId))?.reason, 'repository_archived');
  assert.equal((await h.claim()).jobId, null);
});

test('waitingFor says what the agents lack', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue({ requirements: { labels: { os: 'linux' } } });
  const beat = (capabilities: object, status: 'online' | 'draining' = 'online') =>
    h.call(agents.heartbeat, {
      workspaceId,
      machineFingerprint: 'first',
      displayName: 'first',
      status,
      capabilities,
    });
  const lacking = await waitingFor(h, jobId);
  assert.equal(lacking?.reason, 'no_agent_with_capabilities');
  assert.match(lacking?.message ?? '', /canWrite; label os=linux/);
  assert.deepEqual(await obstacles(h, jobId), ['first lacks label os=linux']);
  const fits = { canWrite: true, labels: { os: 'linux' }, maxConcurrentJobs: 1 };
  await beat(fits);
  assert.equal((await waitingFor(h, jobId))?.reason, 'queue_position');
  const { jobId: other } = await h.enqueue({ priority: 9 });
  assert.equal((await h.claim()).jobId, other);
  assert.equal((await waitingFor(h, jobId))?.reason, 'agents_at_capacity');
  assert.deepEqual(await obstacles(h, jobId), ['first holds 1 of 1 jobs']);
  await beat(fits, 'draining');
  assert.equal((await waitingFor(h, jobId))?.reason, 'no_agent_serves_repository');
  assert.match((await waitingFor(h, jobId))?.message ?? '', /drain: resume one/);
  assert.deepEqual(await obstacles(h, jobId), ['first drains: it takes no more jobs']);
  await beat({ ...fits, reposAllowed: [] });
  assert.equal((await waitingFor(h, jobId))?.reason, 'no_agent_serves_repository');
  await beat(fits);
  h.clock.advance(45_000);
  assert.equal((await waitingFor(h, jobId))?.reason, 'no_agent_serves_repository');
});

test('waitingFor fits its schema for the longest requirements', async (t) => {
  const h = await startQueueWorld(t);
  const labels = Object.fromEntries(
    Array.from({ length: 32 }, (_, at) => [`l${at}`, 'x'.repeat(52)]),
  );
  const { jobId } = await h.enqueue({ requirements: { labels } });
  const lacking = await waitingFor(h, jobId);
  assert.equal(lacking?.reason, 'no_agent_with_capabilities');
  const [agent] = lacking?.agents ?? [];
  assert.match(agent?.obstacle ?? '', /label l0=x+; .*label l31=x+; .*label l9=x+$/);
});

test('waitingFor names the agents that are paused, and when the first continues', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  const until = (ms: number) => new Date(h.clock.nowMs() + ms).toISOString();
  const beat = (machineFingerprint: string, capabilities: object) =>
    h.call(agents.heartbeat, {
      workspaceId,
      machineFingerprint,
      displayName: machineFingerprint,
      capabilities: { canWrite: true, ...capabilities },
    });
  const paused = (ms: number) => ({
    paused: { code: 'usage_limit', message: 'The weekly limit is reached.', until: until(ms) },
  });
  const first = until(20_000);
  await beat('first', paused(20_000));
  await beat('second', paused(30_000));
  const found = await waitingFor(h, jobId);
  assert.equal(found?.reason, 'agents_paused');
  assert.equal(found?.until, first);
  assert.deepEqual(await obstacles(h, jobId), [
    'first paused: The weekly limit is reached.',
    'second paused: The weekly limit is reached.',
  ]);
  assert.deepEqual(
    found?.agents?.map((agent) => agent.until),
    [first, until(30_000)],
  );
  const listed = await h.call(jobs.list, {
    workspaceId,
    view: 'summary' as const,
    fields: ['waitingReason' as const],
  });
  assert.deepEqual(
    listed.jobs.map(({ waitingReason }) => waitingReason),
    ['agents_paused'],
  );
  // One that claims, but is full, hides the pause of the others.
  await beat('first', { maxConcurrentJobs: 1 });
  const { jobId: held } = await h.enqueue({ priority: 9 });
  assert.equal((await h.claim()).jobId, held);
  assert.equal((await waitingFor(h, jobId))?.reason, 'agents_at_capacity');
  assert.match((await waitingFor(h, jobId))?.message ?? '', /busy or paused/);
  h.clock.advance(30_000);
  assert.equal((await waitingFor(h, jobId))?.reason, 'queue_position', 'the pause is over');
});

test('a concurrent reader sees a job either before or after its end, never in between', async (t) => {
  const h = await startQueueWorld(t);
  for (let round = 0; round < 15; round++) {
    const { jobId } = await h.enqueue();
    await h.claim();
    let isOver = false;
    const looks = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { job } = await h.get(jobId);
        assert.equal(job.outcome, job.status === 'done' ? 'done' : null);
        const {
          jobs: [listed],
        } = await h.call(jobs.list, { workspaceId: h.workspaceId, limit: 1 });
        assert.equal(listed?.outcome, listed?.status === 'done' ? 'done' : null);
      }
    });
    await h.complete(jobId);
    isOver = true;
    await Promise.all(looks);
  }
});
