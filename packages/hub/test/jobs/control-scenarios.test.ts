import assert from 'node:assert/strict';
import { endpoints, type JobEvent } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';

const { jobs, jobEvents, queue } = endpoints;

const about =
  (find: (world: World) => Promise<string>, fields: Record<string, unknown> = {}) =>
  async (world: World) => ({
    workspaceId: world.home.workspaceId,
    jobId: await find(world),
    ...fields,
  });

const pending = ({ enqueue }: World) => enqueue();
const running = async ({ startJob }: World) => (await startJob()).jobId;
const done = ({ finishJob }: World) => finishJob('done');
const failed = ({ finishJob }: World) => finishJob('failed');
const blocked = ({ finishJob }: World) => finishJob('blocked');

runScenarios('jobs/cancel', [
  {
    name: 'cancels a pending job at once',
    endpoint: jobs.cancel,
    credential: 'enqueueOnly',
    body: about(pending, { reason: 'No longer wanted.' }),
    expect: { body: { job: { status: 'canceled', outcome: null } } },
  },
  {
    name: 'asks the holder of a running job to stop',
    endpoint: jobs.cancel,
    body: about(running),
    expect: {
      body: ({ clock }) => ({
        job: {
          status: 'running',
          cancelRequestedAt: new Date(clock.nowMs()).toISOString(),
        },
      }),
    },
  },
  {
    name: 'cancels a blocked job',
    endpoint: jobs.cancel,
    body: about(blocked),
    expect: { body: { job: { status: 'canceled' } } },
  },
  {
    name: 'refuses a job that is done',
    endpoint: jobs.cancel,
    body: about(done),
    expect: { error: 'JOB_ALREADY_FINISHED' },
  },
  {
    name: 'refuses a viewer',
    endpoint: jobs.cancel,
    credential: 'viewer',
    body: about(pending),
    expect: { error: 'NOT_ALLOWED' },
  },
  {
    name: 'refuses a reason above 1,000 characters',
    endpoint: jobs.cancel,
    body: about(pending, { reason: 'x'.repeat(1_001) }),
    expect: { error: 'INVALID_REQUEST', contains: ['/reason'] },
  },
]);

runScenarios('jobs/retry', [
  {
    name: 'makes a failed job pending again and clears its outcome',
    endpoint: jobs.retry,
    body: about(failed),
    expect: { body: { job: { status: 'pending', outcome: null, finishedAt: null } } },
  },
  {
    name: 'makes a blocked job pending again after a delay',
    endpoint: jobs.retry,
    body: about(blocked, { delayMs: 1_000 }),
    expect: {
      body: ({ clock }) => ({
        job: { status: 'pending', availableAt: new Date(clock.nowMs() + 1_000).toISOString() },
      }),
    },
  },
  {
    name: 'refuses a job that is done',
    endpoint: jobs.retry,
    body: about(done),
    expect: { error: 'JOB_ALREADY_FINISHED' },
  },
  {
    name: 'refuses a job that is pending',
    endpoint: jobs.retry,
    body: about(pending),
    expect: { error: 'INVALID_REQUEST', contains: ['pending'] },
  },
  {
    name: 'refuses a token with only the scope agent',
    endpoint: jobs.retry,
    credential: 'agentOnly',
    body: about(failed),
    expect: { error: 'NOT_ALLOWED' },
  },
]);

runScenarios('jobs/release', [
  {
    name: 'refuses a service principal, because only people release jobs',
    endpoint: jobs.release,
    body: about(running),
    expect: { error: 'NOT_ALLOWED', contains: ['person'] },
  },
  {
    name: 'refuses a viewer',
    endpoint: jobs.release,
    credential: 'viewer',
    body: about(running),
    expect: { error: 'NOT_ALLOWED' },
  },
]);

runScenarios('queue/pause and queue/resume', [
  {
    name: 'pauses the workspace',
    endpoint: queue.pause,
    body: ({ home }) => ({ workspaceId: home.workspaceId, reason: 'Release freeze.' }),
    expect: { body: { paused: true } },
  },
  {
    name: 'gives no job while paused, with the reason',
    endpoint: jobs.claimNext,
    async body({ home, agentId, enqueue }) {
      await enqueue();
      return { workspaceId: home.workspaceId, agentId };
    },
    expect: { body: { jobId: null, reason: 'queue_paused' } },
  },
  {
    name: 'resumes the workspace',
    endpoint: queue.resume,
    credential: 'enqueueOnly',
    body: ({ home }) => ({ workspaceId: home.workspaceId }),
    expect: { body: { paused: false } },
  },
  {
    name: 'pauses one repository',
    endpoint: queue.pause,
    body: ({ home }) => ({ workspaceId: home.workspaceId, repoId: home.repoId }),
    expect: { body: { paused: true } },
  },
  {
    name: 'refuses an unknown repository',
    endpoint: queue.pause,
    body: ({ home }) => ({ workspaceId: home.workspaceId, repoId: 'repo_none' }),
    expect: { error: 'REPO_NOT_FOUND' },
  },
  {
    name: 'resuming the workspace leaves the repository paused',
    endpoint: queue.resume,
    body: ({ home }) => ({ workspaceId: home.workspaceId }),
    expect: {
      async check(_body, { call, home, agentId }) {
        const answer = await call(jobs.claimNext, { workspaceId: home.workspaceId, agentId });
        assert.equal(answer.reason, 'queue_paused');
      },
    },
  },
  {
    name: 'refuses a workspace that the token may not use',
    endpoint: queue.pause,
    body: ({ other }) => ({ workspaceId: other.workspaceId }),
    expect: { error: 'WORKSPACE_NOT_FOUND' },
  },
  {
    name: 'refuses a token with only the scope read',
    endpoint: queue.pause,
    credential: 'readOnly',
    body: ({ home }) => ({ workspaceId: home.workspaceId }),
    expect: { error: 'NOT_ALLOWED' },
  },
]);

runScenarios('job-events/list-for-job', [
  {
    name: 'reads a timeline in order',
    endpoint: jobEvents.listForJob,
    credential: 'viewer',
    body: about(done),
    expect: {
      body: { nextAfter: 3 },
      check(body) {
        const events = body.events as JobEvent[];
        assert.deepEqual(
          events.map((event) => [event.seq, event.kind]),
          [
            [1, 'enqueued'],
            [2, 'claimed'],
            [3, 'completed'],
          ],
        );
      },
    },
  },
  {
    name: 'refuses a limit above 1,000',
    endpoint: jobEvents.listForJob,
    body: about(pending, { limit: 1_001 }),
    expect: { error: 'INVALID_REQUEST', contains: ['/limit'] },
  },
  {
    name: 'refuses a limit of 0',
    endpoint: jobEvents.listForJob,
    body: about(pending, { limit: 0 }),
    expect: { error: 'INVALID_REQUEST', contains: ['/limit'] },
  },
  {
    name: 'refuses a negative sequence number',
    endpoint: jobEvents.listForJob,
    body: about(pending, { after: -1 }),
    expect: { error: 'INVALID_REQUEST', contains: ['/after'] },
  },
  {
    name: 'refuses the token of another job',
    endpoint: jobEvents.listForJob,
    credential: 'otherJob',
    body: about(running),
    expect: { error: 'NOT_ALLOWED' },
  },
]);
