import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';
import { ensureRun } from '../support/decision-world.ts';
import { startHomeWorld } from '../support/home-world.ts';

const { runs } = endpoints;

type Fields = Record<string, unknown>;
const byRef =
  (fields: Fields = {}) =>
  ({ home }: World) => ({
    workspaceId: home.workspaceId,
    repoId: home.repoId,
    runRef: 'health',
    status: 'in_progress',
    ...fields,
  });
const byId =
  (fields: Fields = {}) =>
  async (world: World) => ({
    workspaceId: world.home.workspaceId,
    runId: await ensureRun(world),
    status: 'done',
    ...fields,
  });
const inHome =
  (fields: Fields = {}) =>
  ({ home }: World) => ({ workspaceId: home.workspaceId, ...fields });

runScenarios('v1/runs/upsert', [
  {
    name: 'creates a run with only a reference and a status',
    endpoint: runs.upsertV1,
    credential: 'agentOnly',
    body: byRef(),
    expect: {
      body: {
        created: true,
        run: { runRef: 'health', status: 'in_progress', currentMilestone: null, goal: null },
      },
    },
  },
  {
    name: 'updates the sent fields and keeps the rest',
    endpoint: runs.upsertV1,
    body: byRef({ currentMilestone: 'implementation', title: 'Health', goal: 'It answers.' }),
    expect: { body: { created: false, run: { currentMilestone: 'implementation' } } },
  },
  {
    name: 'takes any text as a status',
    endpoint: runs.upsertV1,
    credential: 'enqueueOnly',
    body: byRef({ status: 'having lunch', runStatePath: '.runs/health.json' }),
    expect: {
      body: {
        created: false,
        run: { status: 'having lunch', title: 'Health', currentMilestone: 'implementation' },
      },
    },
  },
  {
    name: 'creates a separate run when another workspace has a run of the same reference',
    endpoint: runs.upsertV1,
    body: async (world) => ({
      ...byRef()(world),
      runRef: String(runs.upsertV1.example.request.runRef),
    }),
    expect: { body: { created: true } },
  },
  ...[
    ['an empty reference', 'runRef', ''],
    ['a reference that is too long', 'runRef', 'x'.repeat(256)],
    ['an empty status', 'status', ''],
    ['a status that is too long', 'status', 'x'.repeat(65)],
    ['a milestone that is null', 'currentMilestone', null],
    ['a title that is a number', 'title', 7],
  ].map(([what, field, value]) => ({
    name: `refuses ${what}`,
    endpoint: runs.upsertV1,
    body: byRef({ [String(field)]: value }),
    expect: { error: 'INVALID_REQUEST' as const, contains: [`/${field}`] },
  })),
]);

runScenarios('v2/runs/upsert, runs/get and runs/list', [
  {
    name: 'v2 updates a run by its id',
    endpoint: runs.upsertV2,
    body: byId({ currentMilestone: 'complete' }),
    expect: { body: { run: { status: 'done', currentMilestone: 'complete' } } },
  },
  {
    name: 'v2 refuses a request without a status',
    endpoint: runs.upsertV2,
    body: byId({ status: undefined }),
    expect: { error: 'INVALID_REQUEST', contains: ['/status'] },
  },
  {
    name: 'get reads a run as it was last written',
    endpoint: runs.get,
    credential: 'viewer',
    body: byId(),
    expect: { body: { run: { blockedByDecisionRequestId: null } } },
  },
  {
    name: 'list shows the runs of the workspace and no others',
    endpoint: runs.list,
    body: inHome(),
    expect: {
      absent: ({ other }) => [other.runId],
      check: (body) => assert.equal((body.runs as unknown[]).length, 1),
    },
  },
  {
    name: 'list finds nothing under a status that no run has',
    endpoint: runs.list,
    credential: 'readOnly',
    body: inHome({ status: 'canceled' }),
    expect: { check: (body) => assert.deepEqual(body.runs, []) },
  },
]);

test('of 64 concurrent requests for one run, one creates it and the others update it', async (t) => {
  const { call, home } = await startHomeWorld(t);
  const { workspaceId, repoId } = home;
  const made = await Promise.all(
    Array.from({ length: 64 }, (_, i) =>
      call(runs.upsertV1, { workspaceId, repoId, runRef: 'one', status: `step ${i}` }),
    ),
  );
  assert.equal(new Set(made.map(({ runId }) => runId)).size, 1);
  assert.equal(made.filter(({ created }) => created).length, 1);
  assert.equal((await call(runs.list, { workspaceId })).runs.length, 1);
});

test('a replayed upsert does not undo a later change of the run', async (t) => {
  const h = await startHomeWorld(t);
  const { workspaceId, repoId } = h.home;
  const body = { workspaceId, repoId, runRef: 'one', status: 'planned', idempotencyKey: 'k' };
  const first = await h.call(runs.upsertV1, body);
  await h.call(runs.upsertV2, { workspaceId, runId: first.runId, status: 'done' });
  assert.deepEqual(await h.call(runs.upsertV1, body), { ...first, idempotent: true });
  const { run } = await h.call(runs.get, { workspaceId, runId: first.runId });
  assert.equal(run.status, 'done');
});

test('runs are listed newest first, in pages, with any filter', async (t) => {
  const { call, home } = await startHomeWorld(t);
  const { workspaceId, repoId } = home;
  const ids: string[] = [];
  for (const runRef of ['a', 'b', 'c']) {
    const status = runRef === 'b' ? 'done' : 'planned';
    ids.unshift((await call(runs.upsertV1, { workspaceId, repoId, runRef, status })).runId);
  }
  const list = async (fields: Fields = {}) => {
    const page = await call(runs.list, { workspaceId, ...fields });
    return { ids: page.runs.map(({ runId }) => runId), cursor: page.nextCursor };
  };
  const first = await list({ limit: 2 });
  assert.deepEqual(first.ids, ids.slice(0, 2));
  assert.deepEqual(await list({ cursor: first.cursor }), { ids: ids.slice(2), cursor: null });
  assert.deepEqual((await list({ status: 'done' })).ids, [ids[1]]);
  assert.deepEqual((await list({ runRef: 'a', repoId })).ids, [ids[2]]);
  assert.deepEqual((await list({ repoId: 'repo_none' })).ids, []);
});

test('a listed run has the number of its jobs by status and their cost', async (t) => {
  const h = await startHomeWorld(t);
  const { workspaceId, repoId } = h.home;
  const at = { workspaceId, repoId };
  const { runId } = await h.call(runs.upsertV1, { ...at, runRef: 'one', status: 'planned' });
  const { runId: empty } = await h.call(runs.upsertV1, { ...at, runRef: 'two', status: 'planned' });
  const job = { ...at, runId, kind: 'work', prompt: 'Work.' } as const;
  const agentId = await h.addAgent(h.home, 'builder');
  for (const costUsd of [1, 0.5]) {
    const { jobId } = await h.call(endpoints.jobs.enqueue, job);
    const claimed = await h.call(endpoints.jobs.claimNext, { workspaceId, agentId });
    assert.equal(claimed.jobId, jobId);
    const end = { workspaceId, agentId, jobId, outcome: 'done', usage: { costUsd } } as const;
    await h.call(endpoints.jobs.complete, end);
  }
  await h.call(endpoints.jobs.enqueue, job);
  const listed = (await h.call(runs.list, { workspaceId })).runs;
  const counts = { pending: 0, running: 0, done: 0, failed: 0, blocked: 0, canceled: 0 };
  assert.deepEqual(
    listed.map(({ runId: id, jobCounts, costUsd, isCut }) => ({ id, jobCounts, costUsd, isCut })),
    [
      { id: empty, jobCounts: counts, costUsd: null, isCut: false },
      { id: runId, jobCounts: { ...counts, pending: 1, done: 2 }, costUsd: 1.5, isCut: false },
    ],
  );
});
