import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Id,
  IdempotencyKey,
  Integer,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { doneJob, exampleJob } from './job-examples.ts';
import { JobMessage, TakesMessages } from './job-messages.ts';
import { Job, jobStatuses } from './job-schemas.ts';
import { REVIEW_COMMENTS_MAX } from './review-comments.ts';

/** The rounds of a piece of work that jobs/get names: the newest of them. */
export const ROUNDS_LISTED_MAX = 100;

/** The reviews of a work that are listed, newest first. */
export const REVIEWS_LISTED_MAX = 10;

/** A job that reviews a round of a piece of work. Its evidence has the findings. */
export const JobReview = Type.Object({ jobId: Id('job'), status: OneOf(jobStatuses) });
export type JobReview = Static<typeof JobReview>;

/** A job of a piece of work, in a list of its rounds. */
export const JobRound = Type.Object({
  jobId: Id('job'),
  round: Integer(1, 1_000_000),
  status: OneOf(jobStatuses),
});
export type JobRound = Static<typeof JobRound>;

export const jobsContinue = defineEndpoint({
  name: 'jobsContinue',
  path: '/control-plane/v1/jobs/continue',
  tag: 'Jobs',
  scopes: ['enqueue'],
  console: true,
  repeat: { withKey: 'idempotencyKey' },
  summary: 'Continue the work of a job, or leave a message for it',
  description:
    'Enqueues the next round of a done or failed job: a job of its own, with the message as its ' +
    'prompt, that continues the branch and the session of the tool. It has the repository, ' +
    'run, kind, role, requirements, priority and budget of the round before. The agent that ran ' +
    'that round goes first for a while; it is the only one that may claim the next if it is the ' +
    'only one with the branch. A pending, running or blocked job keeps the message. The tool of ' +
    'the job gets it when its turn has ended, if it takes messages. When the job is done, the ' +
    'messages that the tool did not get become the next round in the same transaction. When it ' +
    'failed they stay, for its next attempt or for the round that continues it. A work that has ' +
    'landed or was closed is open again. While it lands, it is not continued.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    jobId: Id('job', 'The latest round of the work.'),
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
    takesMessages: TakesMessages,
    idempotent: Type.Optional(Type.Boolean()),
  }),
  errors: ['JOB_NOT_FOUND', 'JOB_CANCELED', 'COMMENT_NOT_FOUND', 'LIMIT_REACHED'],
  example: {
    request: {
      workspaceId: exampleIds.workspace,
      jobId: doneJob.jobId,
      message: 'Please handle the empty list, too.',
    },
    response: {
      ok: true,
      job: {
        ...exampleJob,
        jobId: 'job_1j78s1e000105pubchr8',
        continuesJobId: doneJob.jobId,
        workJobId: doneJob.jobId,
        round: 2,
        title: 'Please handle the empty list, too.',
        prompt: 'Please handle the empty list, too.',
      },
      delivery: 'round',
    },
  },
});
