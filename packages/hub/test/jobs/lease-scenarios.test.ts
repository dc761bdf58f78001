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
  {
    name: 'gives a job with a lease, a generation and a job token',
    endpoint: jobs.claimNext,
    async body(world) {
      await world.enqueue();
      return claim({ leaseMs: 5_000 })(world);
    },
    expect: {
      body: ({ agentId, clock }) => ({
        job: { status: 'running', attempt: 1, agentId, leaseMs: 5_000 },
        claimGeneration: 1,
        leaseExpiresAt: new Date(clock.nowMs() + 5_000).toISOString(),
      }),
      check({ jobToken }) {
        assert.match(String(jobToken), /^sbx_j_[0-9A-Za-z]{49}$/);
      },
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
  {
    name: 'refuses the agent of another principal',
    endpoint: jobs.claimNext,
    credential: 'agentOnly',
    body: claim(),
    expect: { error: 'AGENT_NOT_FOUND' },
  },
  {
    name: 'refuses a token with only the scope enqueue',
    endpoint: jobs.claimNext,
    credential: 'enqueueOnly',
    body: claim(),
    expect: { error: 'NOT_ALLOWED' },
  },
  {
    name: 'refuses a job token, whose tool may not claim jobs',
    endpoint: jobs.claimNext,
    credential: 'otherJob',
    body: claim(),
    expect: { error: 'NOT_ALLOWED' },
  },
]);

runScenarios('jobs/heartbeat', [
  {
    name: 'extends the lease',
    endpoint: jobs.heartbeat,
    body: held({ leaseMs: 86_400_000, message: 'Half way.' }),
    expect: {
      body: ({ clock }) => ({
        leaseExpiresAt: new Date(clock.nowMs() + 86_400_000).toISOString(),
        cancelRequested: false,
        commands: [],
      }),
    },
  },
  {
    name: 'refuses a generation that is not the current one',
    endpoint: jobs.heartbeat,
    body: held({ claimGeneration: 2 }),
    expect: { error: 'CLAIM_GENERATION_MISMATCH' },
  },
  {
    name: 'refuses an agent that does not hold the job',
    endpoint: jobs.heartbeat,
    async body(world) {
      const agentId = await world.addAgent(world.home, 'second-machine');
      return { ...(await held()(world)), agentId };
    },
    expect: { error: 'LEASE_LOST' },
  },
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
    name: 'refuses a job that has finished',
    endpoint: jobs.heartbeat,
    body: async ({ home, agentId, finishJob }) => ({
      workspaceId: home.workspaceId,
      jobId: await finishJob('done'),
      agentId,
    }),
    expect: { error: 'JOB_ALREADY_FINISHED' },
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
    name: 'accepts a reason as text',
    endpoint: jobs.complete,
    body: held({ outcome: 'blocked', outcomeReason: 'Which of two schemas?' }),
    expect: { body: { job: { status: 'blocked', outcomeReason: 'Which of two schemas?' } } },
  },
  {
    name: 'enqueues children with the completion',
    endpoint: jobs.complete,
    body: held({ outcome: 'done', children: [{ kind: 'pr_review', prompt: 'Look at it.' }] }),
    expect: {
      async check(body, { call, home }) {
        const { jobId, spawnedJobIds } = body.result as Record<string, string & string[]>;
        const child = { workspaceId: home.workspaceId, jobId: spawnedJobIds?.[0] ?? '' };
        const { job } = await call(jobs.get, child);
        assert.equal(job.parentJobId, jobId);
        assert.equal(job.repoId, home.repoId);
      },
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
    name: 'refuses a child of an unknown repository, and leaves the job running',
    endpoint: jobs.complete,
    body: held({
      outcome: 'done',
      children: [{ kind: 'work', prompt: 'Continue.', repoId: 'repo_none' }],
    }),
    expect: { error: 'REPO_NOT_FOUND', check: lastJobStillRuns },
  },
  {
    name: 'refuses a child without a prompt and names it',
    endpoint: jobs.complete,
    body: held({ outcome: 'done', children: [{ kind: 'work' }] }),
    expect: { error: 'INVALID_REQUEST', contains: ['/children/0/prompt'] },
  },
  {
    name: 'refuses the token of another job',
    endpoint: jobs.complete,
    credential: 'otherJob',
    body: held({ outcome: 'done' }),
    expect: { error: 'NOT_ALLOWED', check: lastJobStillRuns },
  },
]);

runScenarios('job-events/append', [
  {
    name: 'appends output',
    endpoint: jobEvents.append,
    body: held({ entries: [{ logSeq: 1, message: 'npm test', stream: 'stdout' }] }),
    expect: { body: { appended: 1, lastLogSeq: 1 } },
  },
  {
    name: 'lets the job’s own token append',
    endpoint: jobEvents.append,
    credential: 'otherJob',
    body: ({ home, agentId, held: { jobId } }) => ({
      workspaceId: home.workspaceId,
      jobId,
      agentId,
      entries: [{ logSeq: 1, message: 'From the tool.' }],
    }),
    expect: { body: { appended: 1 } },
  },
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
