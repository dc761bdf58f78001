import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Id,
  IdempotencyKey,
  Integer,
  List,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { doneJob, exampleJob } from './job-examples.ts';
import { Job, jobStatuses } from './job-schemas.ts';
import { REVIEW_COMMENTS_MAX } from './review-comments.ts';

/** The rounds of a piece of work that jobs/get names: the newest of them. */
export const ROUNDS_LISTED_MAX = 100;

/** A job of a piece of work, in a list of its rounds. */
export const JobRound = Type.Object({
  jobId: Id('job'),
  round: Integer(1, 1_000_000),
  status: OneOf(jobStatuses),
});
export type JobRound = Static<typeof JobRound>;

/** The messages of one job. They become a prompt together, so their texts are bounded as one. */
export const JOB_MESSAGES_MAX = 100;

export const JobMessage = Type.Object({
  number: Integer(1, JOB_MESSAGES_MAX, 'The place among the messages of the job.'),
  text: Text(TEXT_CHARS_MAX),
  author: Type.Object({ id: Text(200), name: Nullable(Text(200)) }),
  createdAt: Timestamp(),
  state: OneOf(['queued', 'next_round'], {
    description:
      'queued: it waits for the end of the job. next_round: it is in the prompt of nextJobId.',
  }),
  nextJobId: Nullable(Id('job')),
});
export type JobMessage = Static<typeof JobMessage>;

export const jobsContinue = defineEndpoint({
  name: 'jobsContinue',
  method: 'POST',
  path: '/control-plane/v1/jobs/continue',
  tag: 'Jobs',
  auth: 'bearer',
  scopes: ['enqueue'],
  origin: 'extension',
  console: true,
  repeat: { withKey: 'idempotencyKey' },
  jobToken: 'none',
  summary: 'Continue the work of a job, or leave a message for it',
  description:
    'Enqueues the next round of a done or failed job: a job of its own, with the message as its ' +
    'prompt, that continues the branch and the session of the tool. It has the repository, ' +
    'run, kind, role, requirements, priority and budget of the round before. The agent that ran ' +
    'that round goes first for a while; it is the only one that may claim the next if it is the ' +
    'only one with the branch. A pending, running or blocked job keeps the message until its ' +
    'end: when it is done, its messages become the next round in the same transaction. When it ' +
    'failed they stay, for the end of its next attempt or for the round that continues it.',
  request: Type.Object({
    ...{ workspaceId: Id('workspace'), jobId: Id('job', 'The latest round of the work.') },
    message: Type.Optional(
      Text(TEXT_CHARS_MAX, {
        minLength: 1,
        description: 'What is to be done now. Needed without commentIds.',
      }),
    ),
    commentIds: Type.Optional(
      Type.Array(Id('comment'), {
        minItems: 1,
        maxItems: REVIEW_COMMENTS_MAX,
        description:
          'The drafts that the round gets, of all members; they are numbered, and cannot be ' +
          'changed any more. The job must have ended. A draft that was sent or removed ' +
          'meanwhile refuses the whole call.',
      }),
    ),
    tool: Type.Optional(
      Nullable(
        Text(64, {
          minLength: 1,
          description: 'The tool of a round; null: any. Absent: as before.',
        }),
      ),
    ),
    model: Type.Optional(
      Nullable(
        Text(128, { minLength: 1, description: 'The model; null: the default of the tool.' }),
      ),
    ),
    idempotencyKey: Type.Optional(IdempotencyKey),
  }),
  response: Ok({
    job: Job,
    delivery: OneOf(['round', 'message'], {
      description:
        'round: job is the next round, which was enqueued. message: the named job has not ended ' +
        'and keeps the message.',
    }),
    message: Type.Optional(JobMessage),
    idempotent: Type.Optional(Type.Boolean()),
  }),
  errors: [
    'WORKSPACE_NOT_FOUND',
    'JOB_NOT_FOUND',
    'JOB_CANCELED',
    'COMMENT_NOT_FOUND',
    'LIMIT_REACHED',
    'IDEMPOTENCY_CONFLICT',
    'INVALID_REQUEST',
    'NOT_ALLOWED',
  ],
  example: {
    request: {
      ...{ workspaceId: exampleIds.workspace, jobId: doneJob.jobId },
      message: 'Please handle the empty list, too.',
    },
    response: {
      ok: true,
      job: {
        ...exampleJob,
        jobId: 'job_1j78s1e000105pubchr8',
        ...{ continuesJobId: doneJob.jobId, workJobId: doneJob.jobId, round: 2 },
        title: 'Please handle the empty list, too.',
        prompt: 'Please handle the empty list, too.',
      },
      delivery: 'round',
    },
  },
});

export const jobsMessages = defineEndpoint({
  name: 'jobsMessages',
  method: 'POST',
  path: '/control-plane/v1/jobs/messages',
  tag: 'Jobs',
  auth: 'bearer',
  scopes: ['read', 'agent', 'enqueue'],
  origin: 'extension',
  console: true,
  repeat: 'safe',
  jobToken: 'none',
  summary: 'List the messages to a job',
  description: 'Oldest first.',
  request: Type.Object({ workspaceId: Id('workspace'), jobId: Id('job') }),
  response: Ok({ messages: List(JobMessage, JOB_MESSAGES_MAX) }),
  errors: ['WORKSPACE_NOT_FOUND', 'JOB_NOT_FOUND', 'NOT_ALLOWED'],
  example: {
    request: { workspaceId: exampleIds.workspace, jobId: exampleIds.job },
    response: {
      ok: true,
      messages: [
        {
          number: 1,
          text: 'Please handle the empty list, too.',
          author: exampleJob.createdBy,
          createdAt: '2026-11-02T09:02:00.000Z',
          ...{ state: 'queued', nextJobId: null },
        },
      ],
    },
  },
});
