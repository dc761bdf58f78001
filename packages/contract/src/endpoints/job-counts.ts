import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, List, Ok, OneOf, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { jobKinds, jobStatuses } from './job-schemas.ts';

/** Counting stops here, so that a count costs the same however many jobs there are. */
export const JOB_COUNT_MAX = 1_000;
const JobCount = Integer(0, JOB_COUNT_MAX);

/** The number of jobs in each status. */
export const JobCounts = Type.Object({
  pending: JobCount,
  running: JobCount,
  done: JobCount,
  failed: JobCount,
  blocked: JobCount,
  canceled: JobCount,
});
export type JobCounts = Static<typeof JobCounts>;

/** Filters of lists and counts. */
export const jobFilters = {
  kind: Type.Optional(OneOf(jobKinds)),
  repoId: Type.Optional(Id('repository')),
  runId: Type.Optional(Id('run')),
  agentId: Type.Optional(Id('agent', 'The agent that holds the job, or held it last.')),
  mine: Type.Optional(Type.Boolean({ description: 'True: only jobs that the caller enqueued.' })),
  fromAt: Type.Optional(Timestamp('Jobs created at this time or later.')),
  untilAt: Type.Optional(Timestamp('Jobs created before this time.')),
  workEnded: Type.Optional(
    Type.Boolean({
      description:
        'False: without the jobs of works that have landed or were closed. True: only those.',
    }),
  ),
} as const;

export const jobsCounts = defineEndpoint({
  name: 'jobsCounts',
  path: '/control-plane/v1/jobs/counts',
  tag: 'Jobs',
  scopes: ['read', 'agent', 'enqueue'],
  console: true,
  repeat: 'safe',
  jobToken: 'own-run',
  summary: 'Count jobs by status',
  description:
    `Counting stops at ${JOB_COUNT_MAX}. capped lists the statuses that have at least as many ` +
    'jobs as their count, and maybe more. The optional fields are filters, as in jobs/list.',
  request: Type.Object({ workspaceId: Id('workspace'), ...jobFilters }),
  response: Ok({ counts: JobCounts, capped: List(OneOf(jobStatuses), 6) }),
  example: {
    request: { workspaceId: exampleIds.workspace },
    response: {
      ok: true,
      counts: { pending: 3, running: 1, done: 1_000, failed: 2, blocked: 1, canceled: 0 },
      capped: ['done'],
    },
  },
});
