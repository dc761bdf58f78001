import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Defaulted,
  Id,
  IdempotencyKey,
  Integer,
  Json,
  JsonObject,
  List,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { AgentCommand } from './agents.ts';
import { exampleIds } from './example-ids.ts';
import {
  ATTEMPTS_MAX_DEFAULT,
  CLAIM_WAIT_MS_MAX,
  ClaimGeneration,
  claimErrors,
  jobStatuses,
  LEASE_MS_DEFAULT,
  LeaseMs,
  Priority,
  Usage,
} from './job-schemas.ts';

/** Kinds that the hub enqueues, if enabled (docs/reference/protocol.md, section 6). */
export const hubCloudAiJobKinds = ['summarize_source', 'draft_decision_answer'] as const;

/** A model call succeeds or fails. It is never blocked. */
export const cloudAiJobOutcomes = ['done', 'failed'] as const;
export type CloudAiJobOutcome = (typeof cloudAiJobOutcomes)[number];

export const CloudAiJobKind = Text(64, {
  minLength: 1,
  description: 'Any value. The hub itself enqueues summarize_source and draft_decision_answer.',
});
export const ModelName = Text(128, { minLength: 1 });

export const CloudAiInput = Type.Object(
  {
    system: Type.Optional(Text(TEXT_CHARS_MAX)),
    messages: Type.Array(
      Type.Object({ role: OneOf(['user', 'assistant']), content: Text(TEXT_CHARS_MAX) }),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  { description: 'The input of the model.' },
);
export type CloudAiInput = Static<typeof CloudAiInput>;

export const CloudAiResult = Type.Object(
  {
    text: Type.Optional(Text(TEXT_CHARS_MAX)),
    json: Type.Optional(Json('The value described by responseSchema.')),
  },
  { description: 'The output of the model.' },
);
export type CloudAiResult = Static<typeof CloudAiResult>;

export const CloudAiJob = Type.Object(
  {
    cloudAiJobId: Id('cloudAiJob'),
    workspaceId: Id('workspace'),
    kind: CloudAiJobKind,
    model: Nullable(ModelName),
    input: CloudAiInput,
    responseSchema: Nullable(JsonObject('The JSON Schema of the result.')),
    runId: Nullable(Id('run')),
    jobId: Nullable(Id('job')),
    priority: Priority,
    status: OneOf(jobStatuses),
    attempt: Integer(0, 1_000_000, 'The number of attempts so far.'),
    maxAttempts: Integer(1, 1_000_000),
    agentId: Nullable(Id('agent')),
    leaseMs: Nullable(LeaseMs),
    leaseExpiresAt: Nullable(Timestamp()),
    createdAt: Timestamp(),
    startedAt: Nullable(Timestamp('When the latest attempt started.')),
    finishedAt: Nullable(Timestamp()),
    outcome: Nullable(OneOf(cloudAiJobOutcomes)),
    result: Nullable(CloudAiResult),
    usage: Nullable(Usage),
    message: Nullable(Text(TEXT_CHARS_MAX)),
  },
  { description: 'A model call, run by an agent that holds the keys of a provider.' },
);
export type CloudAiJob = Static<typeof CloudAiJob>;

const exampleId = 'aij_1j78s1k00003qjivc1pg';
const exampleInput: CloudAiInput = {
  system: 'Summarize for an engineer, in five sentences.',
  messages: [{ role: 'user', content: 'Minutes of the incident review of 1 November …' }],
};

const runningCloudAiJob: CloudAiJob = {
  cloudAiJobId: exampleId,
  workspaceId: exampleIds.workspace,
  kind: 'summarize_source',
  model: 'claude-sonnet-5',
  input: exampleInput,
  responseSchema: null,
  runId: null,
  jobId: null,
  priority: 0,
  status: 'running',
  attempt: 1,
  maxAttempts: ATTEMPTS_MAX_DEFAULT,
  agentId: exampleIds.agent,
  leaseMs: LEASE_MS_DEFAULT,
  leaseExpiresAt: '2026-11-02T09:10:01.000Z',
  createdAt: '2026-11-02T09:00:00.000Z',
  startedAt: '2026-11-02T09:00:01.000Z',
  finishedAt: null,
  outcome: null,
  result: null,
  usage: null,
  message: null,
};

const exampleResult: CloudAiResult = { text: 'A full disk stopped the queue for nine minutes. …' };
const exampleUsage = { inputTokens: 4_210, outputTokens: 180, model: 'claude-sonnet-5' };

const doneCloudAiJob: CloudAiJob = {
  ...runningCloudAiJob,
  status: 'done',
  leaseMs: null,
  leaseExpiresAt: null,
  finishedAt: '2026-11-02T09:00:09.000Z',
  outcome: 'done',
  result: exampleResult,
  usage: exampleUsage,
};

const CloudAiJobRef = { workspaceId: Id('workspace'), cloudAiJobId: Id('cloudAiJob') };
const exampleRef = { workspaceId: exampleIds.workspace, cloudAiJobId: exampleId };

export const cloudAiJobs = {
  enqueue: defineEndpoint({
    name: 'cloudAiJobsEnqueue',
    path: '/control-plane/v1/cloud-ai-jobs/enqueue',
    tag: 'Cloud AI jobs',
    scopes: ['enqueue'],
    console: false,
    repeat: { withKey: 'idempotencyKey' },
    summary: 'Enqueue a model call',
    description: 'The job is stored when the answer arrives. No other work waits for it.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      kind: CloudAiJobKind,
      model: Type.Optional(ModelName),
      input: CloudAiInput,
      responseSchema: Type.Optional(JsonObject('The JSON Schema of the result.')),
      runId: Type.Optional(Id('run')),
      jobId: Type.Optional(Id('job')),
      priority: Defaulted(Priority, 0),
      maxAttempts: Defaulted(Integer(1, 100), ATTEMPTS_MAX_DEFAULT),
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      cloudAiJobId: Id('cloudAiJob'),
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: ['RUN_NOT_FOUND', 'JOB_NOT_FOUND', 'LIMIT_REACHED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        kind: 'summarize_source',
        model: 'claude-sonnet-5',
        input: exampleInput,
      },
      response: { ok: true, cloudAiJobId: exampleId },
    },
  }),
  get: defineEndpoint({
    name: 'cloudAiJobsGet',
    path: '/control-plane/v1/cloud-ai-jobs/get',
    tag: 'Cloud AI jobs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'Read a cloud AI job with its result',
    description: 'Returns the result once the job is done.',
    request: Type.Object(CloudAiJobRef),
    response: Ok({ cloudAiJob: CloudAiJob }),
    errors: ['CLOUD_AI_JOB_NOT_FOUND'],
    example: { request: exampleRef, response: { ok: true, cloudAiJob: doneCloudAiJob } },
  }),
  claimNext: defineEndpoint({
    name: 'cloudAiJobsClaimNext',
    path: '/control-plane/v1/cloud-ai-jobs/claim-next',
    tag: 'Cloud AI jobs',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: { withKey: 'claimKey' },
    summary: 'Claim the next cloud AI job under a lease',
    description:
      'If there is no job, cloudAiJobId and cloudAiJob are null, and reason says why. With ' +
      'waitMs the request waits for a job. With claimKey, a retry after a lost answer returns ' +
      'the same job and generation.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      agentId: Id('agent'),
      leaseMs: Defaulted(LeaseMs, LEASE_MS_DEFAULT),
      models: Type.Optional(
        List(ModelName, 200, "If absent, the models of the agent's heartbeat."),
      ),
      kinds: Type.Optional(List(CloudAiJobKind, 50, 'If absent, any kind.')),
      waitMs: Defaulted(Integer(0, CLAIM_WAIT_MS_MAX), 0),
      claimKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      cloudAiJobId: Nullable(Id('cloudAiJob')),
      cloudAiJob: Nullable(CloudAiJob),
      leaseExpiresAt: Type.Optional(Timestamp()),
      claimGeneration: Type.Optional(ClaimGeneration),
      reason: Type.Optional(
        OneOf([
          'no_pending_jobs',
          'no_matching_capabilities',
          'agent_draining',
          'agent_at_capacity',
          'queue_paused',
        ]),
      ),
      commands: Type.Optional(
        List(AgentCommand, 10, 'Sent when a command ends the wait of this claim.'),
      ),
    }),
    errors: ['AGENT_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        agentId: exampleIds.agent,
        leaseMs: LEASE_MS_DEFAULT,
        models: ['claude-sonnet-5'],
      },
      response: {
        ok: true,
        cloudAiJobId: exampleId,
        cloudAiJob: runningCloudAiJob,
        leaseExpiresAt: '2026-11-02T09:10:01.000Z',
        claimGeneration: 1,
      },
    },
  }),
  heartbeat: defineEndpoint({
    name: 'cloudAiJobsHeartbeat',
    path: '/control-plane/v1/cloud-ai-jobs/heartbeat',
    tag: 'Cloud AI jobs',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Extend the lease of a running cloud AI job',
    description: 'Sets the lease to now + leaseMs. It shortens the lease only if shorten is true.',
    request: Type.Object({
      ...CloudAiJobRef,
      agentId: Id('agent'),
      leaseMs: Defaulted(LeaseMs, LEASE_MS_DEFAULT),
      message: Type.Optional(Text(10_000, { description: 'The progress, in words.' })),
      claimGeneration: Type.Optional(ClaimGeneration),
      shorten: Defaulted(Type.Boolean(), false),
    }),
    response: Ok({ leaseExpiresAt: Timestamp(), cancelRequested: Type.Boolean() }),
    errors: ['CLOUD_AI_JOB_NOT_FOUND', ...claimErrors],
    example: {
      request: { ...exampleRef, agentId: exampleIds.agent, leaseMs: LEASE_MS_DEFAULT },
      response: { ok: true, leaseExpiresAt: '2026-11-02T09:12:00.000Z', cancelRequested: false },
    },
  }),
  complete: defineEndpoint({
    name: 'cloudAiJobsComplete',
    path: '/control-plane/v1/cloud-ai-jobs/complete',
    tag: 'Cloud AI jobs',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Complete a cloud AI job with its result',
    description:
      'Repeating the accepted completion returns the same answer with idempotent: true. A ' +
      'completion from a lost attempt is refused.',
    request: Type.Object({
      ...CloudAiJobRef,
      agentId: Id('agent'),
      outcome: OneOf(cloudAiJobOutcomes),
      result: Type.Optional(CloudAiResult),
      usage: Type.Optional(Usage),
      message: Type.Optional(Text(TEXT_CHARS_MAX)),
      claimGeneration: Type.Optional(ClaimGeneration),
    }),
    response: Ok({
      result: Type.Object({
        cloudAiJobId: Id('cloudAiJob'),
        status: OneOf(jobStatuses),
        outcome: OneOf(cloudAiJobOutcomes),
        idempotent: Type.Boolean(),
      }),
      cloudAiJob: CloudAiJob,
    }),
    errors: ['CLOUD_AI_JOB_NOT_FOUND', ...claimErrors],
    example: {
      request: {
        ...exampleRef,
        agentId: exampleIds.agent,
        outcome: 'done',
        result: exampleResult,
        usage: exampleUsage,
        claimGeneration: 1,
      },
      response: {
        ok: true,
        result: { cloudAiJobId: exampleId, status: 'done', outcome: 'done', idempotent: false },
        cloudAiJob: doneCloudAiJob,
      },
    },
  }),
} as const;
