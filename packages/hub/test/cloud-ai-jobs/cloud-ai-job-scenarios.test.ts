import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios, type Scenario } from '../support/api-scenario.ts';
import { CANARY, type World } from '../support/api-world.ts';
import { enqueueCloudAiJob, startCloudAiJob } from '../support/cloud-ai-world.ts';

const { cloudAiJobs } = endpoints;

const messages = [{ role: 'user', content: 'Say yes.' }];

const draft =
  (fields: Record<string, unknown> = {}) =>
  ({ home }: World) => ({
    ...{ workspaceId: home.workspaceId, kind: 'ask', input: { messages } },
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
        assert.match(String(cloudAiJobId), /^aij_[0-9a-f]{32}$/);
      },
    },
  },
  {
    name: 'gives the first answer again under the same key',
    endpoint: cloudAiJobs.enqueue,
    body: draft({ model: 'sonnet', responseSchema: { type: 'object' }, idempotencyKey: 'a' }),
    expect: { body: { idempotent: true } },
  },
  {
    name: 'refuses another body under the same key',
    endpoint: cloudAiJobs.enqueue,
    body: draft({ idempotencyKey: 'a' }),
    expect: { error: 'IDEMPOTENCY_CONFLICT' },
  },
  {
    name: 'refuses an unknown run',
    endpoint: cloudAiJobs.enqueue,
    body: draft({ runId: 'run_0' }),
    expect: { error: 'RUN_NOT_FOUND' },
  },
  {
    name: 'refuses the job of another workspace',
    endpoint: cloudAiJobs.enqueue,
    body: (world) => draft({ jobId: world.other.jobId })(world),
    expect: { error: 'JOB_NOT_FOUND' },
  },
  {
    name: 'refuses a workspace that the token may not use',
    endpoint: cloudAiJobs.enqueue,
    credential: 'foreign',
    body: draft(),
    expect: { error: 'WORKSPACE_NOT_FOUND' },
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
  {
    name: 'gives the job with a lease and a generation, and no token',
    endpoint: cloudAiJobs.claimNext,
    async body(world) {
      await enqueueCloudAiJob(world, world.home, { model: 'sonnet' });
      return claim({ leaseMs: 5_000, models: ['sonnet'] })(world);
    },
    expect: {
      body: ({ agentId, clock }) => ({
        cloudAiJob: { status: 'running', attempt: 1, agentId, leaseMs: 5_000, model: 'sonnet' },
        claimGeneration: 1,
        leaseExpiresAt: new Date(clock.nowMs() + 5_000).toISOString(),
      }),
      absent: ['jobToken', 'sbx_j_'],
    },
  },
  {
    name: 'refuses the agent of another principal',
    endpoint: cloudAiJobs.claimNext,
    credential: 'agentOnly',
    body: claim(),
    expect: { error: 'AGENT_NOT_FOUND' },
  },
  {
    name: 'refuses a token with only the scope enqueue',
    endpoint: cloudAiJobs.claimNext,
    credential: 'enqueueOnly',
    body: claim(),
    expect: { error: 'NOT_ALLOWED' },
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
    name: 'refuses a generation that is not the current one',
    endpoint: cloudAiJobs.heartbeat,
    body: held({ claimGeneration: 2 }),
    expect: { error: 'CLAIM_GENERATION_MISMATCH' },
  },
  {
    name: 'refuses an agent that does not hold the job',
    endpoint: cloudAiJobs.heartbeat,
    async body(world) {
      const agentId = await world.addAgent(world.home, 'second-machine');
      return { ...(await held()(world)), agentId };
    },
    expect: { error: 'LEASE_LOST' },
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
    name: 'takes the result',
    endpoint: cloudAiJobs.complete,
    body: held({ outcome: 'done', result: { text: 'Yes.' }, usage: { inputTokens: 4 } }),
    expect: {
      body: {
        result: { status: 'done', outcome: 'done', idempotent: false },
        cloudAiJob: { result: { text: 'Yes.' }, usage: { inputTokens: 4 }, leaseMs: null },
      },
    },
  },
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
  {
    name: 'refuses the token of an ordinary job',
    endpoint: cloudAiJobs.complete,
    credential: 'otherJob',
    body: held({ outcome: 'done' }),
    expect: { error: 'NOT_ALLOWED' },
  },
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
  {
    name: 'does not find the job of another workspace',
    endpoint: cloudAiJobs.get,
    body: ({ home, other }) => ({
      workspaceId: home.workspaceId,
      cloudAiJobId: other.cloudAiJobId,
    }),
    expect: { error: 'CLOUD_AI_JOB_NOT_FOUND', absent: [CANARY] },
  },
]);
