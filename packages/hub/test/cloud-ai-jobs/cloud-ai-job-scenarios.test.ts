import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios, type Scenario } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';
import { enqueueCloudAiJob, startCloudAiJob } from '../support/cloud-ai-world.ts';

const { cloudAiJobs } = endpoints;

const messages = [{ role: 'user', content: 'Say yes.' }];

const draft =
  (fields: Record<string, unknown> = {}) =>
  ({ home }: World) => ({
    workspaceId: home.workspaceId,
    kind: 'ask',
    input: { messages },
    ...fields,
  });

const claim =
  (fields: Record<string, unknown> = {}) =>
  ({ home, agentId }: World) => ({ workspaceId: home.workspaceId, agentId, ...fields });

/** A request of the agent about a cloud AI job that it has just claimed. */
const held =
  (fields: Record<string, unknown> = {}) =>
  async (world: World) => {
    const { home, agentId } = world;
    const cloudAiJobId = await startCloudAiJob(world, home, agentId);
    return { workspaceId: home.workspaceId, cloudAiJobId, agentId, ...fields };
  };

runScenarios('cloud-ai-jobs/enqueue', [
  {
    name: 'takes a model call',
    endpoint: cloudAiJobs.enqueue,
    credential: 'enqueueOnly',
    body: draft({ model: 'sonnet', responseSchema: { type: 'object' }, idempotencyKey: 'a' }),
    expect: {
      check({ cloudAiJobId }) {
        assert.match(String(cloudAiJobId), /^aij_[0-9a-v]{20}$/);
      },
    },
  },
  ...(
    [
      ['an empty kind', 'kind', ''],
      ['an input without messages', 'input', { messages: [] }],
      ['an unknown role', 'input', { messages: [{ role: 'system', content: 'x' }] }],
      ['an empty model', 'model', ''],
      ['a schema that is not an object', 'responseSchema', 'string'],
      ['a priority out of range', 'priority', 1_001],
      ['no attempt at all', 'maxAttempts', 0],
      ['a NUL in the text', 'input', { messages: [{ role: 'user', content: '\0' }] }],
    ] as const
  ).map(
    ([what, field, value]): Scenario => ({
      name: `refuses ${what}`,
      endpoint: cloudAiJobs.enqueue,
      body: draft({ [field]: value }),
      expect: { error: 'INVALID_REQUEST', contains: [`/${field}`] },
    }),
  ),
]);

runScenarios('cloud-ai-jobs/claim-next', [
  {
    name: 'answers without a job and gives the reason',
    endpoint: cloudAiJobs.claimNext,
    body: claim(),
    expect: {
      body: { cloudAiJobId: null, cloudAiJob: null, reason: 'no_pending_jobs' },
      absent: ['leaseExpiresAt', 'claimGeneration'],
    },
  },
  ...(
    [
      ['a lease below a second', 'leaseMs', 999],
      ['a wait above a minute', 'waitMs', 60_001],
      ['models that are not a list', 'models', 'sonnet'],
      ['an empty kind', 'kinds', ['']],
      ['a claim key with a space', 'claimKey', 'a b'],
    ] as const
  ).map(
    ([what, field, value]): Scenario => ({
      name: `refuses ${what}`,
      endpoint: cloudAiJobs.claimNext,
      body: claim({ [field]: value }),
      expect: { error: 'INVALID_REQUEST', contains: [`/${field}`] },
    }),
  ),
]);

runScenarios('cloud-ai-jobs/heartbeat', [
  {
    name: 'shortens the lease when asked to',
    endpoint: cloudAiJobs.heartbeat,
    body: held({ leaseMs: 1_000, shorten: true }),
    expect: {
      body: ({ clock }) => ({
        leaseExpiresAt: new Date(clock.nowMs() + 1_000).toISOString(),
        cancelRequested: false,
      }),
    },
  },
  {
    name: 'never shortens the lease otherwise',
    endpoint: cloudAiJobs.heartbeat,
    body: held({ leaseMs: 1_000 }),
    expect: {
      body: ({ clock }) => ({
        leaseExpiresAt: new Date(clock.nowMs() + 86_400_000).toISOString(),
      }),
    },
  },
  {
    name: 'refuses a job that is not claimed',
    endpoint: cloudAiJobs.heartbeat,
    async body(world) {
      const cloudAiJobId = await enqueueCloudAiJob(world, world.home);
      return { ...claim()(world), cloudAiJobId };
    },
    expect: { error: 'JOB_NOT_RUNNING' },
  },
  {
    name: 'does not find an ordinary job',
    endpoint: cloudAiJobs.heartbeat,
    body: (world) => ({ ...claim()(world), cloudAiJobId: world.held.jobId }),
    expect: { error: 'CLOUD_AI_JOB_NOT_FOUND' },
  },
]);

runScenarios('cloud-ai-jobs/complete', [
  {
    name: 'takes an outcome without a result',
    endpoint: cloudAiJobs.complete,
    body: held({ outcome: 'failed' }),
    expect: { body: { cloudAiJob: { status: 'failed', result: null, message: null } } },
  },
  ...(
    [
      ['an unknown outcome', 'outcome', 'blocked'],
      ['a result that is not an object', 'result', 'Yes.'],
      ['negative usage', 'usage', { inputTokens: -1 }],
    ] as const
  ).map(
    ([what, field, value]): Scenario => ({
      name: `refuses ${what}`,
      endpoint: cloudAiJobs.complete,
      body: held({ outcome: 'done', [field]: value }),
      expect: { error: 'INVALID_REQUEST', contains: [`/${field}`] },
    }),
  ),
]);

runScenarios('cloud-ai-jobs/get', [
  {
    name: 'shows a job and its outcome',
    endpoint: cloudAiJobs.get,
    credential: 'readOnly',
    async body({ home, ...world }) {
      const cloudAiJobId = await enqueueCloudAiJob(world, home);
      return { workspaceId: home.workspaceId, cloudAiJobId };
    },
    expect: { body: { cloudAiJob: { status: 'pending', attempt: 0, input: { messages } } } },
  },
]);
