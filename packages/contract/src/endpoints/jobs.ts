import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Defaulted,
  Id,
  IdempotencyKey,
  Integer,
  LIST_LIMIT_MAX,
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
import { exampleIds } from './example-ids.ts';
import { ATTEMPTS_COMPARED_MAX, JobAttempt } from './job-attempt.ts';
import { jobsBulk } from './job-bulk.ts';
import {
  JobReview,
  JobRound,
  jobsContinue,
  REVIEWS_LISTED_MAX,
  ROUNDS_LISTED_MAX,
} from './job-continue.ts';
import { jobFilters, jobsCounts } from './job-counts.ts';
import { canceledJob, doneJob, exampleJob, runningJob } from './job-examples.ts';
import { addableFields, ListedJob } from './job-listed.ts';
import { LOG_SEARCH_CHARS_MAX } from './job-log.ts';
import {
  JOB_MESSAGES_MAX,
  JobMessage,
  jobsTakeMessages,
  MessagesDelivered,
  TakesMessages,
} from './job-messages.ts';
import { ChangesPlace } from './job-patch.ts';
import { jobsRelease } from './job-release.ts';
import { jobsRetry } from './job-retry.ts';
import {
  ChildJob,
  CLAIM_WAIT_MS_MAX,
  ClaimGeneration,
  claimErrors,
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
} from './job-schemas.ts';
import { VARIANTS_MAX } from './job-variant.ts';
import { JobVariant, jobsChooseVariant } from './job-variants.ts';
import { WaitingFor } from './job-waiting.ts';
import { LandingResult, Work } from './job-work.ts';
import { CommentFate, REVIEW_COMMENTS_MAX } from './review-comments.ts';

/** The fields of a renewal, beside the ids of job and agent. */
export const renewalFields = {
  leaseMs: Defaulted(LeaseMs, LEASE_MS_DEFAULT),
  message: Type.Optional(Text(10_000, { description: 'The progress, for the timeline.' })),
  claimGeneration: Type.Optional(ClaimGeneration),
  shorten: Defaulted(Type.Boolean(), false),
} as const;
const exampleJobRef = { workspaceId: exampleIds.workspace, jobId: exampleIds.job };
const JobRef = { workspaceId: Id('workspace'), jobId: Id('job') };

export const jobs = {
  list: defineEndpoint({
    name: 'jobsList',
    path: '/control-plane/v1/jobs/list',
    tag: 'Jobs',
    scopes: ['read', 'agent', 'enqueue'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    jobToken: 'own-run',
    summary: 'List jobs',
    description:
      'Newest first. With view summary, each job has the fields of a list row and those named in ' +
      'fields; long texts such as prompt and evidence only on request. With waitingReason, a ' +
      'pending job has the reason why it waits, as in jobs/get. The other optional fields ' +
      'are filters, and all of them must match. With text, logText, runId, agentId, mine, workEnded ' +
      'or a time, a page may have fewer jobs than its limit, or none, although nextCursor says ' +
      'that more follow.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      status: Type.Optional(OneOf(jobStatuses)),
      statuses: Type.Optional(List(OneOf(jobStatuses), 6, 'Jobs with one of these statuses.')),
      ...jobFilters,
      text: Type.Optional(
        Text(200, {
          minLength: 1,
          description:
            'Part of the title, the id, the prompt or the result of a job, in any case. Of a long ' +
            'prompt or result the first 4,000 characters are searched.',
        }),
      ),
      logText: Type.Optional(
        Text(LOG_SEARCH_CHARS_MAX, {
          minLength: 1,
          description:
            'Text in a line of the log of the latest attempt, as jobs/search-log finds it.',
        }),
      ),
      view: Defaulted(OneOf(['whole', 'summary']), 'whole'),
      fields: Defaulted(
        List(OneOf(addableFields), addableFields.length, 'Fields to add to each summary.'),
        [],
      ),
      limit: ListLimit,
      limitPerStatus: Type.Optional(
        Integer(
          1,
          Math.floor(LIST_LIMIT_MAX / jobStatuses.length),
          'The newest of each status, instead of limit and cursor. nextCursor is null. For ' +
            'summaries without fields, or with waitingReason.',
        ),
      ),
      cursor: Cursor,
    }),
    response: Ok({ jobs: List(ListedJob, 200), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace, status: 'pending' },
      response: { ok: true, jobs: [exampleJob], nextCursor: null },
    },
  }),
  counts: jobsCounts,
  get: defineEndpoint({
    name: 'jobsGet',
    path: '/control-plane/v1/jobs/get',
    tag: 'Jobs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-job',
    summary: 'Read a job and why it is waiting',
    description:
      'queuePosition is the position among the claimable jobs of its repository; 1 is next. ' +
      'waitingFor says what a job that is not running waits for. Both are null otherwise. ' +
      'changesPlace is there for an ended job with a commit.',
    request: Type.Object(JobRef),
    response: Ok({
      job: Job,
      queuePosition: Nullable(Integer(1, Number.MAX_SAFE_INTEGER)),
      waitingFor: Nullable(WaitingFor),
      attempts: Type.Optional(
        List(
          JobAttempt,
          ATTEMPTS_COMPARED_MAX,
          'The latest attempts of a job that has several, oldest first.',
        ),
      ),
      rounds: Type.Optional(
        List(
          JobRound,
          ROUNDS_LISTED_MAX,
          'The latest jobs of a piece of work that has several, oldest first.',
        ),
      ),
      variants: Type.Optional(
        List(
          JobVariant,
          VARIANTS_MAX,
          'All variants, if the job is one, in the order of the call.',
        ),
      ),
      work: Type.Optional(Work),
      changesPlace: Type.Optional(ChangesPlace),
      reviews: Type.Optional(
        List(
          JobReview,
          REVIEWS_LISTED_MAX,
          'The latest jobs that review a round of the work, by their reviewsJobId, newest first.',
        ),
      ),
      messages: Type.Optional(
        List(JobMessage, JOB_MESSAGES_MAX, 'The messages to the job, oldest first.'),
      ),
      takesMessages: TakesMessages,
    }),
    errors: ['JOB_NOT_FOUND'],
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
    path: '/control-plane/v1/jobs/enqueue',
    tag: 'Jobs',
    scopes: ['enqueue'],
    origin: 'specification',
    console: true,
    repeat: { withKey: 'idempotencyKey' },
    summary: 'Enqueue a job',
    description: 'The job becomes available to agents. It is stored when the answer arrives.',
    request: EnqueueRequest,
    response: Ok({
      jobId: Id('job'),
      job: Job,
      variantJobIds: Type.Optional(
        List(Id('job'), VARIANTS_MAX, 'The jobs of all variants, in order; jobId is the first.'),
      ),
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: ['REPO_NOT_FOUND', 'RUN_NOT_FOUND', 'JOB_NOT_FOUND', 'LIMIT_REACHED'],
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
    path: '/control-plane/v1/jobs/claim-next',
    tag: 'Jobs',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: { withKey: 'claimKey' },
    summary: 'Claim the next job under a lease',
    description:
      'Returns the next available job of the repositories that the agent serves, if the agent ' +
      'has the required capabilities. If there is no job, jobId and job are null, and reason ' +
      'says why. With waitMs the request waits for a job. With claimKey, a retry after a lost ' +
      'answer returns the same job and generation.',
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
        Text(200, { description: 'For the tool that the agent runs. It ends with the lease.' }),
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
    path: '/control-plane/v1/jobs/heartbeat',
    tag: 'Jobs',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    jobToken: 'own-job',
    summary: 'Extend the lease of a running job',
    description:
      'Sets the lease to now + leaseMs. It shortens the lease only if shorten is true. With ' +
      'cancelRequested, the agent must stop and shorten the lease. A job token extends the lease ' +
      'of its agent, without message and shorten, and gets no commands.',
    request: Type.Object({
      ...JobRef,
      agentId: Id('agent'),
      ...renewalFields,
    }),
    response: Ok({
      leaseExpiresAt: Timestamp(),
      cancelRequested: Type.Boolean(),
      commands: List(AgentCommand, 1_000),
    }),
    errors: ['JOB_NOT_FOUND', ...claimErrors],
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
    path: '/control-plane/v1/jobs/complete',
    tag: 'Jobs',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Complete a job with an outcome and evidence',
    description:
      'Repeating the accepted completion returns the same answer with idempotent: true. After ' +
      'the lease has expired, a completion by the last holder is accepted if no agent has ' +
      'reclaimed the job. A completion from a lost attempt is refused and kept in the timeline ' +
      'as late evidence. outcomeReason.retryable puts a failed or blocked job back to pending ' +
      'while attempts remain; its children are not enqueued, because the next attempt has its own. ' +
      'Otherwise children are enqueued in the same transaction, in the repository and the run of ' +
      'the job and within its limits: they have its requirements, at most its priority, attempts ' +
      'and budget, may write only if it may, and depend on jobs of its run only. When the job is ' +
      'done, messages that are not in messagesDelivered become the next round. The completion of a ' +
      'landing has landing, and that of any other job has not.',
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
      commentFates: Type.Optional(
        List(
          CommentFate,
          REVIEW_COMMENTS_MAX,
          'Where the lines of the open review comments of the work are now.',
        ),
      ),
      messagesDelivered: Type.Optional(MessagesDelivered),
      landing: Type.Optional(LandingResult),
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
    errors: ['JOB_NOT_FOUND', 'RUN_NOT_FOUND', 'REPO_NOT_FOUND', 'LIMIT_REACHED', ...claimErrors],
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
    path: '/control-plane/v1/jobs/cancel',
    tag: 'Jobs',
    scopes: ['enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'Cancel a job',
    description:
      'Cancels a job that is not running at once. Marks a running job: the next heartbeat ' +
      'reports it, completions are refused, and the job is canceled when its lease ends.',
    request: Type.Object({ ...JobRef, reason: Type.Optional(Text(1_000)) }),
    response: Ok({ job: Job }),
    errors: ['JOB_NOT_FOUND', 'JOB_ALREADY_FINISHED'],
    example: { request: exampleJobRef, response: { ok: true, job: canceledJob } },
  }),
  retry: jobsRetry,
  continue: jobsContinue,
  chooseVariant: jobsChooseVariant,
  takeMessages: jobsTakeMessages,
  release: jobsRelease,
  bulk: jobsBulk,
} as const;
