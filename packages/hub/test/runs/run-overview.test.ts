import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  endpoints,
  type RequestOf,
  RUN_GRAPH_JOBS_MAX,
  RUN_MILESTONES_MAX,
} from '@signalbox/contract';
import { startHomeWorld } from '../support/home-world.ts';

const { contextPacks, jobs, runs } = endpoints;

async function setup(t: TestContext) {
  const world = await startHomeWorld(t);
  const { workspaceId, repoId } = world.home;
  const run = { workspaceId, repoId, runRef: 'health' };
  const { runId } = await world.call(runs.upsertV1, { ...run, status: 'planned' });
  const upsert = (fields: { status: string; currentMilestone?: string }) =>
    world.call(runs.upsertV2, { workspaceId, runId, ...fields });
  const enqueue = async (more: Partial<RequestOf<typeof jobs.enqueue>> = {}) => {
    const draft = { workspaceId, repoId, runId, kind: 'work' as const, prompt: 'Do it.' };
    return (await world.call(jobs.enqueue, { ...draft, ...more })).jobId;
  };
  const overview = () => world.call(runs.overview, { workspaceId, runId });
  const graph = () => world.call(runs.graph, { workspaceId, runId });
  return { ...world, workspaceId, repoId, runId, upsert, enqueue, overview, graph };
}

test('a run keeps each milestone and status that it enters, once', async (t) => {
  const h = await setup(t);
  await h.upsert({ status: 'in_progress', currentMilestone: 'planning' });
  await h.upsert({ status: 'in_progress', currentMilestone: 'planning' });
  await h.upsert({ status: 'in_progress' });
  await h.upsert({ status: 'done', currentMilestone: 'complete' });
  const { milestones } = await h.overview();
  assert.deepEqual(
    milestones.map(({ milestone, status }) => [milestone, status]),
    [
      [null, 'planned'],
      ['planning', 'in_progress'],
      ['complete', 'done'],
    ],
  );
});

test('a run keeps its latest milestones', async (t) => {
  const h = await setup(t);
  for (let at = 1; at <= RUN_MILESTONES_MAX; at++) {
    await h.upsert({ status: 'in_progress', currentMilestone: `step ${at}` });
  }
  const { milestones } = await h.overview();
  assert.equal(milestones.length, RUN_MILESTONES_MAX);
  assert.equal(milestones[0]?.milestone, 'step 1', 'the creation is the oldest, and deleted');
});

test('an overview sums the usage of the jobs of its run and of no others', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const agentId = await h.addAgent(h.home, 'one');
  const usages = [
    { inputTokens: 100, outputTokens: 10, costUsd: 0.5 },
    { inputTokens: 20, costUsd: 0.25 },
    { outputTokens: 3 },
    undefined,
  ];
  for (const usage of usages) {
    await h.enqueue();
    const { jobId } = await h.call(jobs.claimNext, { workspaceId, agentId });
    const end = { workspaceId, jobId: jobId ?? '', agentId, outcome: 'done' as const };
    await h.call(jobs.complete, { ...end, ...(usage && { usage }) });
  }
  await h.enqueue({ priority: 1 });
  const { runId: _, ...elsewhere } = { runId: h.runId, workspaceId, repoId: h.repoId };
  await h.call(jobs.enqueue, { ...elsewhere, kind: 'work', prompt: 'Not of the run.' });
  const { usage, jobCounts } = await h.overview();
  assert.deepEqual(usage, {
    jobs: 3,
    jobsWithCost: 2,
    inputTokens: 120,
    outputTokens: 13,
    costUsd: 0.75,
  });
  assert.deepEqual([jobCounts.done, jobCounts.pending], [4, 1]);
});

test('an overview lists the packs of the run, newest first', async (t) => {
  const h = await setup(t);
  const { workspaceId, runId } = h;
  await h.call(endpoints.contextItems.upsert, {
    workspaceId,
    kind: 'note' as const,
    title: 'Rounding',
    text: 'Round half to even.',
    pinned: true,
  });
  const first = await h.call(contextPacks.buildRunV1, { workspaceId, runId });
  const second = await h.call(contextPacks.buildRunV1, { workspaceId, runId });
  const { packs } = await h.overview();
  assert.deepEqual(
    packs.map(({ packId, version, items }) => [packId, version, items]),
    [
      [second.packId, 2, 1],
      [first.packId, 1, 1],
    ],
  );
});

test('a graph has the jobs of the run with their parents and dependencies', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const agentId = await h.addAgent(h.home, 'one');
  const parent = await h.enqueue();
  const after = await h.enqueue({ dependsOn: [parent], prompt: 'Then this.' });
  await h.call(jobs.claimNext, { workspaceId, agentId });
  const { result } = await h.call(jobs.complete, {
    workspaceId,
    jobId: parent,
    agentId,
    outcome: 'done' as const,
    children: [{ kind: 'pr_review', prompt: 'Review it.', runId: h.runId }],
  });
  const [child = ''] = result.spawnedJobIds ?? [];
  const { jobs: nodes, isCut } = await h.graph();
  assert.equal(isCut, false);
  assert.deepEqual(
    nodes.map((node) => [node.jobId, node.title, node.status, node.parentJobId, node.dependsOn]),
    [
      [parent, 'Do it.', 'done', null, []],
      [after, 'Then this.', 'pending', null, [parent]],
      [child, 'Review it.', 'pending', parent, []],
    ],
  );
});

test('a graph shows the newest jobs of a long run and says that there are more', async (t) => {
  const h = await setup(t);
  const first = await h.enqueue();
  await Promise.all(Array.from({ length: RUN_GRAPH_JOBS_MAX }, () => h.enqueue()));
  const { jobs: nodes, isCut } = await h.graph();
  assert.deepEqual([nodes.length, isCut], [RUN_GRAPH_JOBS_MAX, true]);
  assert.ok(nodes.every(({ jobId }) => jobId !== first));
});
