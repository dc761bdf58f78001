import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Defaulted,
  Id,
  IdempotencyKey,
  Integer,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { AgentCommand } from './agents.ts';
import {
  ChildJob,
  CLAIM_WAIT_MS_MAX,
  EnqueueRequest,
  Evidence,
  Job,
  jobKinds,
  jobOutcomes,
  jobStatuses,
  LEASE_MS_DEFAULT,
  LeaseMs,
  OutcomeReason,
  Usage,
  WaitingFor,
} from './jobs.ts';
import { exampleIds } from './workspaces.ts';

const exampleJob: Job = {
  jobId: exampleIds.job,
  workspaceId: exampleIds.workspace,
  repoId: exampleIds.repository,
  runId: null,
  kind: 'work',
  role: 'implementer',
  prompt: 'Add a health check to the API.',
  requirements: null,
  priority: 0,
  status: 'pending',
  attempt: 0,
  maxAttempts: 5,
  agentId: null,
  leaseMs: null,
  leaseExpiresAt: null,
  availableAt: '2026-11-02T09:00:00.000Z',
  createdAt: '2026-11-02T09:00:00.000Z',
  startedAt: null,
  finishedAt: null,
  outcome: null,
  outcomeReason: null,
  message: null,
  evidence: null,
  usage: null,
  budget: null,
  parentJobId: null,
  dependsOn: [],
  concurrencyKey: null,
  cancelRequestedAt: null,
  waitingOnUncertaintyId: null,
  decisions: [],
};

const runningJob: Job = {
  ...exampleJob,
  status: 'running',
  attempt: 1,
  agentId: exampleIds.agent,
  leaseMs: LEASE_MS_DEFAULT,
  leaseExpiresAt: '2026-11-02T09:10:01.000Z',
  startedAt: '2026-11-02T09:00:01.000Z',
};

const doneJob: Job = {
  ...runningJob,
  status: 'done',
  leaseMs: null,
  leaseExpiresAt: null,
  finishedAt: '2026-11-02T09:04:00.000Z',
  outcome: 'done',
  message: 'Added GET /health with a test.',
  evidence: {
    commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
    changedFiles: ['src/health.ts', 'test/health.test.ts'],
  },
};

const canceledJob: Job = {
  ...exampleJob,
  status: 'canceled',
  finishedAt: '2026-11-02T09:01:00.000Z',
  cancelRequestedAt: '2026-11-02T09:01:00.000Z',
};

const ClaimGeneration = Integer(
  1,
  1_000_000,
  'The attempt number that the claim returned. Sent: must be the current one. Not sent: agentId ' +
    'must hold the lease.',
);
const exampleJobRef = { workspaceId: exampleIds.workspace, jobId: exampleIds.job };
const JobRef = { workspaceId: Id('workspace'), jobId: Id('job') };

export const jobs = {
  list: defineEndpoint({
    name: 'jobsList',
    method: 'POST',
    path: '/control-plane/v1/jobs/list',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['read', 'agent', 'enqueue'],
    origin: 'specification',
    summary: 'List jobs',
    description: 'Newest first, filtered by any of the optional fields.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      status: Type.Optional(OneOf(jobStatuses)),
      kind: Type.Optional(OneOf(jobKinds)),
      repoId: Type.Optional(Id('repository')),
      runId: Type.Optional(Id('run')),
      agentId: Type.Optional(Id('agent')),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ jobs: List(Job, 200), nextCursor: NextCursor }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace, status: 'pending' },
      response: { ok: true, jobs: [exampleJob], nextCursor: null },
    },
  }),
  get: defineEndpoint({
    name: 'jobsGet',
    method: 'POST',
    path: '/control-plane/v1/jobs/get',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['read', 'agent', 'enqueue'],
    origin: 'extension',
    summary: 'Read a job and why it waits',
    description:
      'queuePosition counts the claimable jobs of its repository that go first (1: it is next); ' +
      'waitingFor says honestly what a job that is not running waits for. Both are null otherwise.',
    request: Type.Object(JobRef),
    response: Ok({
      job: Job,
      queuePosition: Nullable(Integer(1, Number.MAX_SAFE_INTEGER)),
      waitingFor: Nullable(WaitingFor),
    }),
    errors: ['WORKSPACE_NOT_FOUND', 'JOB_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: exampleJobRef,
      response: {
        ok: true,
        job: exampleJob,
        queuePosition: 1,
        waitingFor: {
          reason: 'no_agent_serves_repository',
          message: 'No online agent serves this repository.',
        },
      },
    },
  }),
  enqueue: defineEndpoint({
    name: 'jobsEnqueue',
    method: 'POST',
    path: '/control-plane/v1/jobs/enqueue',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['enqueue'],
    origin: 'specification',
    summary: 'Enqueue a job',
    description: 'The job becomes available for agents to claim; it is durable when answered.',
    request: EnqueueRequest,
    response: Ok({ jobId: Id('job'), job: Job, idempotent: Type.Optional(Type.Boolean()) }),
    errors: [
      'WORKSPACE_NOT_FOUND',
      'REPO_NOT_FOUND',
      'RUN_NOT_FOUND',
      'JOB_NOT_FOUND',
      'IDEMPOTENCY_CONFLICT',
      'NOT_ALLOWED',
    ],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        repoId: exampleIds.repository,
        kind: 'work',
        role: 'implementer',
        prompt: 'Add a health check to the API.',
        priority: 0,
      },
      response: { ok: true, jobId: exampleIds.job, job: exampleJob },
    },
  }),
  claimNext: defineEndpoint({
    name: 'jobsClaimNext',
    method: 'POST',
    path: '/control-plane/v1/jobs/claim-next',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['agent'],
    origin: 'specification',
    summary: 'Claim the next job under a lease',
    description:
      'The next available job of the repositories that the agent serves and of the capabilities ' +
      'that it has. Nothing to do: jobId and job are null and reason says why. With waitMs the ' +
      'request waits for a job to arrive. With claimKey a retry after a lost answer returns the ' +
      'same job and generation.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      agentId: Id('agent'),
      leaseMs: Defaulted(LeaseMs, LEASE_MS_DEFAULT),
      waitMs: Defaulted(Integer(0, CLAIM_WAIT_MS_MAX), 0),
      claimKey: Type.Optional(IdempotencyKey),
      kinds: Type.Optional(List(OneOf(jobKinds), 20)),
      repoIds: Type.Optional(List(Id('repository'), 1_000)),
    }),
    response: Ok({
      jobId: Nullable(Id('job')),
      job: Nullable(Job),
      leaseExpiresAt: Type.Optional(Timestamp()),
      claimGeneration: Type.Optional(ClaimGeneration),
      jobToken: Type.Optional(
        Text(200, { description: 'For the tool that the agent runs; dies with the lease.' }),
      ),
      reason: Type.Optional(
        OneOf([
          'no_pending_jobs',
          'no_repositories_served',
          'no_matching_capabilities',
          'agent_draining',
          'agent_at_capacity',
          'waiting_on_dependencies',
          'queue_paused',
        ]),
      ),
    }),
    errors: ['WORKSPACE_NOT_FOUND', 'AGENT_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        agentId: exampleIds.agent,
        leaseMs: LEASE_MS_DEFAULT,
        waitMs: 30_000,
      },
      response: {
        ok: true,
        jobId: exampleIds.job,
        job: runningJob,
        leaseExpiresAt: '2026-11-02T09:10:01.000Z',
        claimGeneration: 1,
        jobToken: 'sbx_j_4nVb1xXq7Y2kTz0pR9sLwE6uHcJmA3dGfB8oKiQvNtSy1a2b3c',
      },
    },
  }),
  heartbeat: defineEndpoint({
    name: 'jobsHeartbeat',
    method: 'POST',
    path: '/control-plane/v1/jobs/heartbeat',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['agent'],
    origin: 'specification',
    summary: 'Extend the lease of a running job',
    description:
      'Sets the lease to now + leaseMs; never below what remains, unless shorten is true. ' +
      'cancelRequested asks the agent to stop and let the lease go.',
    request: Type.Object({
      ...JobRef,
      agentId: Id('agent'),
      leaseMs: Defaulted(LeaseMs, LEASE_MS_DEFAULT),
      message: Type.Optional(Text(10_000, { description: 'Progress, for the timeline.' })),
      claimGeneration: Type.Optional(ClaimGeneration),
      shorten: Defaulted(Type.Boolean(), false),
    }),
    response: Ok({
      leaseExpiresAt: Timestamp(),
      cancelRequested: Type.Boolean(),
      commands: List(AgentCommand, 1_000),
    }),
    errors: [
      'WORKSPACE_NOT_FOUND',
      'JOB_NOT_FOUND',
      'AGENT_NOT_FOUND',
      'LEASE_LOST',
      'CLAIM_GENERATION_MISMATCH',
      'JOB_NOT_RUNNING',
      'JOB_ALREADY_FINISHED',
      'JOB_CANCELED',
      'NOT_ALLOWED',
    ],
    example: {
      request: {
        ...exampleJobRef,
        agentId: exampleIds.agent,
        leaseMs: LEASE_MS_DEFAULT,
        message: 'Running the tests.',
      },
      response: {
        ok: true,
        leaseExpiresAt: '2026-11-02T09:12:00.000Z',
        cancelRequested: false,
        commands: [],
      },
    },
  }),
  complete: defineEndpoint({
    name: 'jobsComplete',
    method: 'POST',
    path: '/control-plane/v1/jobs/complete',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['agent'],
    origin: 'specification',
    summary: 'Complete a job with an outcome and evidence',
    description:
      'Replaying the winning completion gives the same answer with idempotent: true. A late ' +
      'completion by the last holder, before anyone reclaimed the job, is accepted; one from a ' +
      'lost attempt is refused and kept in the timeline as late evidence. outcomeReason.retryable ' +
      'puts a failed or blocked job back to pending while attempts remain. children are enqueued ' +
      'in the same transaction.',
    request: Type.Object({
      ...JobRef,
      agentId: Id('agent'),
      runId: Type.Optional(Id('run')),
      outcome: OneOf(jobOutcomes),
      message: Type.Optional(Text(TEXT_CHARS_MAX)),
      outcomeReason: Type.Optional(OutcomeReason),
      evidence: Type.Optional(Evidence),
      claimGeneration: Type.Optional(ClaimGeneration),
      children: Defaulted(List(ChildJob, 50), []),
      usage: Type.Optional(Usage),
    }),
    response: Ok({
      result: Type.Object({
        jobId: Id('job'),
        status: OneOf(jobStatuses),
        outcome: OneOf(jobOutcomes),
        idempotent: Type.Boolean(),
        spawnedJobIds: List(Id('job'), 50),
      }),
      job: Job,
    }),
    errors: [
      'WORKSPACE_NOT_FOUND',
      'JOB_NOT_FOUND',
      'RUN_NOT_FOUND',
      'REPO_NOT_FOUND',
      'AGENT_NOT_FOUND',
      'LEASE_LOST',
      'CLAIM_GENERATION_MISMATCH',
      'JOB_NOT_RUNNING',
      'JOB_ALREADY_FINISHED',
      'JOB_CANCELED',
      'NOT_ALLOWED',
    ],
    example: {
      request: {
        ...exampleJobRef,
        agentId: exampleIds.agent,
        outcome: 'done',
        message: 'Added GET /health with a test.',
        evidence: {
          commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
          changedFiles: ['src/health.ts', 'test/health.test.ts'],
        },
        claimGeneration: 1,
      },
      response: {
        ok: true,
        result: {
          jobId: exampleIds.job,
          status: 'done',
          outcome: 'done',
          idempotent: false,
          spawnedJobIds: [],
        },
        job: doneJob,
      },
    },
  }),
  cancel: defineEndpoint({
    name: 'jobsCancel',
    method: 'POST',
    path: '/control-plane/v1/jobs/cancel',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['enqueue'],
    origin: 'extension',
    summary: 'Cancel a job',
    description:
      'A job that is not running is canceled at once. A running one is marked: the next ' +
      'heartbeat says so, a completion is refused from then on, and the end of the lease cancels it.',
    request: Type.Object({ ...JobRef, reason: Type.Optional(Text(1_000)) }),
    response: Ok({ job: Job }),
    errors: ['WORKSPACE_NOT_FOUND', 'JOB_NOT_FOUND', 'JOB_ALREADY_FINISHED', 'NOT_ALLOWED'],
    example: { request: exampleJobRef, response: { ok: true, job: canceledJob } },
  }),
  retry: defineEndpoint({
    name: 'jobsRetry',
    method: 'POST',
    path: '/control-plane/v1/jobs/retry',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['enqueue'],
    origin: 'extension',
    summary: 'Put a failed or blocked job back in the queue',
    description: 'One more attempt is allowed when none remains. Done and canceled jobs stay.',
    request: Type.Object({ ...JobRef, delayMs: Defaulted(Integer(0, 366 * 86_400_000), 0) }),
    response: Ok({ job: Job }),
    errors: [
      'WORKSPACE_NOT_FOUND',
      'JOB_NOT_FOUND',
      'JOB_ALREADY_FINISHED',
      'JOB_CANCELED',
      'INVALID_REQUEST',
      'NOT_ALLOWED',
    ],
    example: { request: exampleJobRef, response: { ok: true, job: { ...exampleJob, attempt: 1 } } },
  }),
  release: defineEndpoint({
    name: 'jobsRelease',
    method: 'POST',
    path: '/control-plane/v1/jobs/release',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['enqueue'],
    origin: 'extension',
    summary: 'Take a running job from its holder',
    description:
      'Ends the lease now: the job is recovered as if the lease had expired, and the holder is ' +
      'fenced off. Audited.',
    request: Type.Object({ ...JobRef, reason: Type.Optional(Text(1_000)) }),
    response: Ok({ job: Job }),
    errors: ['WORKSPACE_NOT_FOUND', 'JOB_NOT_FOUND', 'JOB_NOT_RUNNING', 'NOT_ALLOWED'],
    example: {
      request: { ...exampleJobRef, reason: 'The machine was switched off.' },
      response: { ok: true, job: { ...exampleJob, attempt: 1, agentId: exampleIds.agent } },
    },
  }),
} as const;
