import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, IdempotencyKey, Integer, List, Ok, OneOf, Text } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { jobStatuses, Priority } from './job-schemas.ts';

/** Jobs of one call: all are changed in one transaction, which delays other writes meanwhile. */
export const BULK_JOBS_MAX = 100;

export const bulkActions = ['cancel', 'retry', 'release', 'set_priority'] as const;
export type BulkAction = (typeof bulkActions)[number];

export const BulkResult = Type.Object({
  jobId: Id('job'),
  result: OneOf(['changed', 'unchanged', 'refused'], {
    description:
      'changed: the action was taken. unchanged: the job was in that state already. refused: see ' +
      'error and message.',
  }),
  status: Type.Optional(
    OneOf(jobStatuses, { description: 'The status afterwards. Absent for an unknown job.' }),
  ),
  error: Type.Optional(Text(100, { description: 'The code of the refusal.' })),
  message: Type.Optional(Text(1_000, { description: 'The reason of the refusal.' })),
});
export type BulkResult = Static<typeof BulkResult>;

export const jobsBulk = defineEndpoint({
  name: 'jobsBulk',
  path: '/control-plane/v1/jobs/bulk',
  tag: 'Jobs',
  scopes: ['enqueue'],
  console: true,
  repeat: { withKey: 'idempotencyKey' },
  summary: 'Cancel, retry, release or reprioritize several jobs',
  description:
    'Takes one action on each job, by the rules of jobs/cancel, jobs/retry and jobs/release. A job ' +
    'that refuses the action does not prevent it for the others: there is one result for each job, ' +
    'in the order of the request. set_priority changes the place in the queue of a job that has ' +
    'not ended. Audited for each job.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    action: OneOf(bulkActions),
    jobs: Type.Array(
      Type.Object({
        jobId: Id('job'),
        claimGeneration: Type.Optional(
          Integer(
            0,
            1_000_000,
            'The number of attempts that the caller has seen. If the job has another one by now, ' +
              'the action is refused with CLAIM_GENERATION_MISMATCH.',
          ),
        ),
      }),
      { minItems: 1, maxItems: BULK_JOBS_MAX, description: 'Each job once.' },
    ),
    priority: Type.Optional(
      Type.Integer({ ...Priority, description: 'The new priority, for set_priority only.' }),
    ),
    reason: Type.Optional(Text(1_000, { description: 'The reason, for the audit log.' })),
    idempotencyKey: Type.Optional(IdempotencyKey),
  }),
  response: Ok({
    results: List(BulkResult, BULK_JOBS_MAX),
    idempotent: Type.Optional(Type.Boolean()),
  }),
  example: {
    request: {
      workspaceId: exampleIds.workspace,
      action: 'cancel',
      jobs: [{ jobId: exampleIds.job }],
    },
    response: {
      ok: true,
      results: [{ jobId: exampleIds.job, result: 'changed', status: 'canceled' }],
    },
  },
});
