import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
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
]);

runScenarios('jobs/release', [
  {
    name: 'refuses a service principal, because only people release jobs',
    endpoint: jobs.release,
    body: about(running),
    expect: { error: 'NOT_ALLOWED', contains: ['person'] },
  },
]);

runScenarios('queue/pause and queue/resume', [
  {
    name: 'pauses one repository',
    endpoint: queue.pause,
    body: ({ home }) => ({ workspaceId: home.workspaceId, repoId: home.repoId }),
    expect: { body: { paused: true } },
  },
  {
    name: 'resuming the workspace leaves the repository paused',
    endpoint: queue.resume,
    body: ({ home }) => ({ workspaceId: home.workspaceId }),
    expect: {
      body: { paused: false },
      async check(_body, { call, home, agentId }) {
        const answer = await call(jobs.claimNext, { workspaceId: home.workspaceId, agentId });
        assert.equal(answer.reason, 'queue_paused');
      },
    },
  },
]);

runScenarios('job-events/list-for-job', [
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
]);
