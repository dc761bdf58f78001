import assert from 'node:assert/strict';
import { endpoints, type Job } from '@signalbox/contract';
import { runScenarios, type Scenario } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';

const { jobs } = endpoints;

const draft =
  (fields: Record<string, unknown> = {}) =>
  ({ home }: World) => ({
    workspaceId: home.workspaceId,
    repoId: home.repoId,
    kind: 'work',
    prompt: 'Add a health check.',
    ...fields,
  });

/** One invalid field of an otherwise valid enqueue is refused with its name. */
const refusesField = (what: string, field: string, value: unknown): Scenario => ({
  name: `refuses ${what}`,
  endpoint: jobs.enqueue,
  body: draft({ [field]: value }),
  expect: { error: 'INVALID_REQUEST', contains: [`/${field}`] },
});

runScenarios('jobs/enqueue', [
  {
    name: 'enqueues with defaults and returns all fields of the job',
    endpoint: jobs.enqueue,
    body: draft(),
    expect: {
      body: ({ home }) => ({
        job: {
          workspaceId: home.workspaceId,
          repoId: home.repoId,
          kind: 'work',
          role: 'implementer',
          prompt: 'Add a health check.',
          requirements: null,
          priority: 0,
          status: 'pending',
          attempt: 0,
          maxAttempts: 5,
          agentId: null,
          runId: null,
          outcome: null,
          dependsOn: [],
        },
      }),
      check: (body) => assert.equal(body.jobId, (body.job as Job).jobId),
    },
  },
  {
    name: 'keeps text of any script unchanged',
    endpoint: jobs.enqueue,
    body: draft({ prompt: 'Größe — 日本語 🎛️\r\n\t"quoted" <b>', role: 'reviewer' }),
    expect: { body: { job: { prompt: 'Größe — 日本語 🎛️\r\n\t"quoted" <b>', role: 'reviewer' } } },
  },
  refusesField('an unknown kind', 'kind', 'deploy'),
  refusesField('an empty prompt', 'prompt', ''),
  refusesField('a prompt that is not text', 'prompt', ['a']),
  refusesField('a priority with a fraction', 'priority', 0.5),
  refusesField('a priority in quotes', 'priority', '1'),
  refusesField('a priority above 1000', 'priority', 1_001),
  refusesField('a priority that is not a safe integer', 'priority', 2 ** 53),
  refusesField('no attempts', 'maxAttempts', 0),
  refusesField('a key with a space', 'idempotencyKey', 'two words'),
  refusesField('a key of 256 characters', 'idempotencyKey', 'k'.repeat(256)),
  refusesField('a negative delay', 'delayMs', -1),
  refusesField('dependencies that are not a list', 'dependsOn', 'job_1'),
  refusesField('101 dependencies', 'dependsOn', Array(101).fill('job_1')),
  refusesField('null where a value is optional', 'runId', null),
  refusesField('required capabilities of the wrong form', 'requirements', { canWrite: 'yes' }),
  {
    name: 'names all missing fields at once',
    endpoint: jobs.enqueue,
    body: ({ home }) => ({ workspaceId: home.workspaceId }),
    expect: { error: 'INVALID_REQUEST', contains: ['/repoId', '/kind', '/prompt'] },
  },
  {
    name: 'refuses a token with only the scope agent',
    endpoint: jobs.enqueue,
    credential: 'agentOnly',
    body: draft(),
    expect: { error: 'NOT_ALLOWED', contains: ['enqueue'] },
  },
  {
    name: 'refuses a duplicate key',
    endpoint: jobs.enqueue,
    body: '{"kind":"work","kind":"pr_review"}',
    expect: { error: 'INVALID_JSON', contains: ['Duplicate key'] },
  },
  {
    name: 'has stored no refused job',
    endpoint: jobs.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId, status: 'pending' }),
    expect: { check: (body) => assert.equal((body.jobs as Job[]).length, 2) },
  },
]);

runScenarios('jobs/list and jobs/get', [
  {
    name: 'list shows the jobs of the workspace and no others',
    endpoint: jobs.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId }),
    expect: {
      body: { nextCursor: null },
      contains: ['"status":"running"'],
      absent: ({ other }) => [other.jobId, other.runningJobId],
    },
  },
  {
    name: 'list finds nothing by an agent of another workspace',
    endpoint: jobs.list,
    body: ({ home, other }) => ({ workspaceId: home.workspaceId, agentId: other.agentId }),
    expect: { check: (body) => assert.deepEqual(body.jobs, []) },
  },
  {
    name: 'list refuses an unknown status',
    endpoint: jobs.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId, status: 'lost' }),
    expect: { error: 'INVALID_REQUEST', contains: ['pending, running'] },
  },
  {
    name: 'get shows a job of the workspace and why it waits',
    endpoint: jobs.get,
    credential: 'viewer',
    body: async ({ home, enqueue }) => ({
      workspaceId: home.workspaceId,
      jobId: await enqueue({ priority: 500 }),
    }),
    expect: { body: { queuePosition: 1, waitingFor: { reason: 'queue_position' } } },
  },
  {
    name: 'get never shows the job token',
    endpoint: jobs.get,
    body: async ({ home, startJob }) => ({
      workspaceId: home.workspaceId,
      jobId: (await startJob()).jobId,
    }),
    expect: { body: { job: { status: 'running' }, waitingFor: null }, absent: ['sbx_', 'token'] },
  },
]);
