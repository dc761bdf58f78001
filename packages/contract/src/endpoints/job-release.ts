import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Ok, Text } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { exampleJob } from './job-examples.ts';
import { Job } from './job-schemas.ts';

export const jobsRelease = defineEndpoint({
  name: 'jobsRelease',
  path: '/control-plane/v1/jobs/release',
  tag: 'Jobs',
  scopes: ['enqueue'],
  console: true,
  repeat: 'once',
  summary: 'Take a running job from its holder',
  description:
    'Ends the lease now. The job is recovered as if the lease had expired, and later writes of ' +
    'the holder are refused. Only a person may do this. Audited.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    jobId: Id('job'),
    reason: Type.Optional(Text(1_000)),
  }),
  response: Ok({ job: Job }),
  errors: ['JOB_NOT_FOUND', 'JOB_NOT_RUNNING'],
  example: {
    request: {
      workspaceId: exampleIds.workspace,
      jobId: exampleIds.job,
      reason: 'The machine was switched off.',
    },
    response: { ok: true, job: { ...exampleJob, attempt: 1, agentId: exampleIds.agent } },
  },
});
