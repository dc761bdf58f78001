import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, List, Nullable, Ok, OneOf, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { doneJob } from './job-examples.ts';
import { Job, jobStatuses, verdicts } from './job-schemas.ts';
import { VARIANTS_MAX, Variant } from './job-variant.ts';

const Count = Integer(0, Number.MAX_SAFE_INTEGER);

/** One of several tries of the same work, as a person compares it with the others. */
export const JobVariant = Type.Object({
  jobId: Id('job'),
  ...Type.Required(Variant).properties,
  status: OneOf(jobStatuses),
  verdict: Nullable(OneOf(verdicts)),
  checks: Type.Object({ passed: Count, total: Count }),
  files: Nullable(Count),
  linesAdded: Nullable(Count),
  linesDeleted: Nullable(Count),
  startedAt: Nullable(Timestamp()),
  finishedAt: Nullable(Timestamp()),
  costUsd: Nullable(Type.Number({ minimum: 0 })),
  isChosen: Nullable(
    Type.Boolean({ description: 'Null: no variant was chosen yet. False: another one was.' }),
  ),
});
export type JobVariant = Static<typeof JobVariant>;

export const jobsChooseVariant = defineEndpoint({
  name: 'jobsChooseVariant',
  path: '/control-plane/v1/jobs/choose-variant',
  tag: 'Jobs',
  scopes: ['enqueue'],
  console: true,
  repeat: 'safe',
  summary: 'Choose one of the variants of a work',
  description:
    'The others are closed: those that have not ended are canceled, with their rounds, and none ' +
    'of them is continued. The choice is final.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    jobId: Id('job', 'The first job of the variant.'),
  }),
  response: Ok({ job: Job, variants: List(JobVariant, VARIANTS_MAX) }),
  errors: ['JOB_NOT_FOUND'],
  example: {
    request: { workspaceId: exampleIds.workspace, jobId: doneJob.jobId },
    response: {
      ok: true,
      job: { ...doneJob, variantOf: doneJob.jobId },
      variants: [
        {
          jobId: doneJob.jobId,
          tool: 'claude',
          model: null,
          status: 'done',
          verdict: 'verified',
          checks: { passed: 1, total: 1 },
          files: 2,
          linesAdded: 40,
          linesDeleted: 3,
          costUsd: 0.42,
          isChosen: true,
          startedAt: doneJob.startedAt,
          finishedAt: doneJob.finishedAt,
        },
        {
          jobId: 'job_1j78s1e000205pubchr8',
          tool: 'codex',
          model: null,
          status: 'canceled',
          verdict: null,
          checks: { passed: 0, total: 0 },
          files: null,
          linesAdded: null,
          linesDeleted: null,
          costUsd: null,
          isChosen: false,
          startedAt: null,
          finishedAt: '2026-11-02T09:05:00.000Z',
        },
      ],
    },
  },
});
