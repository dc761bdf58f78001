import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios, type Scenario } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';

const { jobs, jobEvents } = endpoints;

/** A request of the agent about a job that it has just claimed. */
const held =
  (fields: Record<string, unknown> = {}) =>
  async (world: World) => {
    const { jobId } = await world.startJob();
    return { workspaceId: world.home.workspaceId, jobId, agentId: world.agentId, ...fields };
  };

const claim =
  (fields: Record<string, unknown> = {}) =>
  ({ home, agentId }: World) => ({ workspaceId: home.workspaceId, agentId, ...fields });

runScenarios('jobs/claim-next', [
  {
    name: 'answers without a job and gives the reason',
    endpoint: jobs.claimNext,
    body: claim(),
    expect: {
      body: { jobId: null, job: null, reason: 'no_pending_jobs' },
      absent: ['jobToken', 'leaseExpiresAt'],
    },
  },
  ...(
    [
      ['a lease below a second', 'leaseMs', 999],
      ['a lease above a day', 'leaseMs', 86_400_001],
      ['a lease with a fraction', 'leaseMs', 1_000.5],
      ['a wait above a minute', 'waitMs', 60_001],
      ['unknown kinds', 'kinds', ['deploy']],
      ['a claim key with a space', 'claimKey', 'a b'],
    ] as const
  ).map(
    ([what, field, value]): Scenario => ({
      name: `refuses ${what}`,
      endpoint: jobs.claimNext,
      body: claim({ [field]: value }),
      expect: { error: 'INVALID_REQUEST', contains: [`/${field}`] },
    }),
  ),
]);

runScenarios('jobs/heartbeat', [
  {
    name: 'refuses a job that is not claimed',
    endpoint: jobs.heartbeat,
    body: async ({ home, agentId, enqueue }) => ({
      workspaceId: home.workspaceId,
      jobId: await enqueue({ priority: -1_000 }),
      agentId,
    }),
    expect: { error: 'JOB_NOT_RUNNING' },
  },
  {
    name: 'refuses a progress message above 10,000 characters',
    endpoint: jobs.heartbeat,
    body: held({ message: 'x'.repeat(10_001) }),
    expect: { error: 'INVALID_REQUEST', contains: ['/message'] },
  },
]);

runScenarios('jobs/complete', [
  {
    name: 'completes a job with evidence and keeps unknown fields of it',
    endpoint: jobs.complete,
    body: held({
      outcome: 'done',
      message: 'Done.',
      evidence: { commitSha: 'abc', changedFiles: ['a.ts'], coverage: 0.9 },
      usage: { inputTokens: 10, costUsd: 0.5 },
    }),
    expect: {
      body: {
        result: { status: 'done', outcome: 'done', idempotent: false, spawnedJobIds: [] },
        job: {
          status: 'done',
          message: 'Done.',
          evidence: { commitSha: 'abc', changedFiles: ['a.ts'], coverage: 0.9 },
          usage: { inputTokens: 10, costUsd: 0.5 },
          leaseExpiresAt: null,
        },
      },
      headers: { 'x-ignored-fields': 'evidence.coverage' },
    },
  },
  {
    name: 'refuses an unknown outcome',
    endpoint: jobs.complete,
    body: held({ outcome: 'canceled' }),
    expect: { error: 'INVALID_REQUEST', contains: ['done, failed, blocked'] },
  },
  {
    name: 'refuses a run that does not exist, and leaves the job running',
    endpoint: jobs.complete,
    body: held({ outcome: 'done', runId: 'run_none' }),
    expect: { error: 'RUN_NOT_FOUND', check: lastJobStillRuns },
  },
  {
    name: 'refuses a child without a prompt and names it',
    endpoint: jobs.complete,
    body: held({ outcome: 'done', children: [{ kind: 'work' }] }),
    expect: { error: 'INVALID_REQUEST', contains: ['/children/0/prompt'] },
  },
]);

runScenarios('job-events/append', [
  {
    name: 'refuses an empty list',
    endpoint: jobEvents.append,
    body: held({ entries: [] }),
    expect: { error: 'INVALID_REQUEST', contains: ['/entries'] },
  },
  {
    name: 'refuses 501 entries',
    endpoint: jobEvents.append,
    body: held({
      entries: Array.from({ length: 501 }, (_, i) => ({ logSeq: i + 1, message: '' })),
    }),
    expect: { error: 'INVALID_REQUEST', contains: ['/entries'] },
  },
  {
    name: 'refuses an entry without a number and names it',
    endpoint: jobEvents.append,
    body: held({ entries: [{ logSeq: 1, message: 'a' }, { message: 'b' }] }),
    expect: { error: 'INVALID_REQUEST', contains: ['/entries/1/logSeq'] },
  },
  {
    name: 'refuses an unknown stream',
    endpoint: jobEvents.append,
    body: held({ entries: [{ logSeq: 1, message: 'a', stream: 'stdlog' }] }),
    expect: { error: 'INVALID_REQUEST', contains: ['stdout, stderr, agent'] },
  },
  {
    name: 'refuses an invalid timestamp',
    endpoint: jobEvents.append,
    body: held({ entries: [{ logSeq: 1, message: 'a', at: 'yesterday' }] }),
    expect: { error: 'INVALID_REQUEST', contains: ['/entries/0/at'] },
  },
]);

async function lastJobStillRuns(_body: unknown, { call, home }: World): Promise<void> {
  const { jobs: list } = await call(jobs.list, { workspaceId: home.workspaceId, limit: 1 });
  const [last] = list;
  assert.equal(last?.status, 'running');
  assert.equal(last.outcome, null);
}
