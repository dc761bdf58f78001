import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Defaulted, Id, Integer, Nullable, Ok, TEXT_CHARS_MAX, Text } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { exampleJob } from './job-examples.ts';
import { Job } from './job-schemas.ts';

export const jobsRetry = defineEndpoint({
  name: 'jobsRetry',
  path: '/control-plane/v1/jobs/retry',
  tag: 'Jobs',
  scopes: ['enqueue'],
  console: true,
  repeat: 'once',
  summary: 'Put a failed or blocked job back in the queue',
  description:
    'Grants one more attempt if none remains. Done and canceled jobs do not change. With a ' +
    'prompt, the next attempt gets that one; the timeline keeps the previous one, in ' +
    'data.previousPrompt of the event. With a tool or a model, the next attempt is for an agent ' +
    'that offers it. Audited.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    jobId: Id('job'),
    delayMs: Defaulted(Integer(0, 366 * 86_400_000), 0),
    prompt: Type.Optional(
      Text(TEXT_CHARS_MAX, { minLength: 1, description: 'Replaces the work instruction.' }),
    ),
    tool: Type.Optional(
      Nullable(Text(64, { minLength: 1, description: 'The tool; null: any. Absent: as before.' })),
    ),
    model: Type.Optional(
      Nullable(
        Text(128, { minLength: 1, description: 'The model; null: the default of the tool.' }),
      ),
    ),
  }),
  response: Ok({ job: Job }),
  errors: ['JOB_NOT_FOUND', 'JOB_ALREADY_FINISHED', 'JOB_CANCELED', 'LIMIT_REACHED'],
  example: {
    request: { workspaceId: exampleIds.workspace, jobId: exampleIds.job },
    response: { ok: true, job: { ...exampleJob, attempt: 1 } },
  },
});
