import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, IdempotencyKey, Ok, Text } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { doneJob, exampleJob } from './job-examples.ts';
import { Job } from './job-schemas.ts';
import { BaseBranch, exampleWork, OVERRIDE_CHARS_MAX, Work } from './job-work.ts';

const people = { tag: 'Works', scopes: ['enqueue'], console: true } as const;
const LatestRound = {
  workspaceId: Id('workspace'),
  jobId: Id('job', 'The latest round of the work.'),
};
const exampleRound = { workspaceId: exampleIds.workspace, jobId: doneJob.jobId };

/** How a piece of work ends: approved and landed, or closed. jobs/get tells its state. */
export const works = {
  approve: defineEndpoint({
    ...people,
    name: 'worksApprove',
    path: '/control-plane/v1/works/approve',
    repeat: 'safe',
    summary: 'Approve the commit of a piece of work',
    description:
      'Needs a latest round that is done with this commit, resolved comments and no gaps; what is ' +
      'missing is named. With override, a person approves although comments, checks or conflicts ' +
      'are open: the reason is kept with their name. An approval is of one commit: a later round ' +
      'voids it. A commit that is approved already stays approved by who did so first.',
    request: Type.Object({
      ...LatestRound,
      commitSha: Text(64, { minLength: 1, description: 'The commit that the person has seen.' }),
      override: Type.Optional(
        Text(OVERRIDE_CHARS_MAX, {
          minLength: 1,
          description: 'Why it is approved although something is missing.',
        }),
      ),
    }),
    response: Ok({ work: Work }),
    errors: ['JOB_NOT_FOUND'],
    example: {
      request: { ...exampleRound, commitSha: exampleWork.commitSha ?? '' },
      response: { ok: true, work: exampleWork },
    },
  }),
  land: defineEndpoint({
    ...people,
    name: 'worksLand',
    path: '/control-plane/v1/works/land',
    repeat: { withKey: 'idempotencyKey' },
    summary: 'Land an approved piece of work',
    description:
      'Enqueues a job that brings the approved commit into the base of the repository, as the ' +
      'agent that has the branch is configured. It starts no tool. A landing that is pending, ' +
      'running or done is returned as it is. After one that failed or was canceled the work is ' +
      'still approved, and can be landed again. The landings of a repository run one after the ' +
      'other.',
    request: Type.Object({ ...LatestRound, idempotencyKey: Type.Optional(IdempotencyKey) }),
    response: Ok({ work: Work, job: Job, idempotent: Type.Optional(Type.Boolean()) }),
    errors: ['JOB_NOT_FOUND', 'LIMIT_REACHED'],
    example: {
      request: exampleRound,
      response: {
        ok: true,
        work: {
          ...exampleWork,
          landing: {
            jobId: 'job_1j78s1e000105pubchr8',
            status: 'pending',
            conflicts: null,
            reason: null,
          },
        },
        job: {
          ...exampleJob,
          jobId: 'job_1j78s1e000105pubchr8',
          landsJobId: doneJob.jobId,
          role: 'landing',
          title: `Land: ${doneJob.title}`,
          prompt: `Land: ${doneJob.title}`,
        },
      },
    },
  }),
  close: defineEndpoint({
    ...people,
    name: 'worksClose',
    path: '/control-plane/v1/works/close',
    repeat: 'safe',
    summary: 'Close a piece of work',
    description:
      'The work is closed, or landed if a person has merged it by hand. Its branch stays. A round ' +
      'or a landing that has not ended refuses it. A round that continues the work opens it again.',
    request: Type.Object({
      ...LatestRound,
      landed: Type.Optional(
        Type.Object(
          { into: BaseBranch, commitSha: Text(64, { minLength: 1 }) },
          { description: 'The branch and the commit that have the work now.' },
        ),
      ),
    }),
    response: Ok({ work: Work }),
    errors: ['JOB_NOT_FOUND'],
    example: {
      request: exampleRound,
      response: { ok: true, work: { ...exampleWork, state: 'closed' } },
    },
  }),
} as const;
