import Type, { type Static } from 'typebox';
import { OneOf, Text } from '../schema.ts';
import { Job, TITLE_CHARS_MAX } from './job-schemas.ts';

/** The fields of every summary. Those that do not apply to a job are absent from its summary. */
export const summaryFields = [
  'jobId',
  'title',
  'status',
  'kind',
  'repoId',
  'attempt',
  'createdAt',
  'createdBy',
  'runId',
  'agentId',
  'startedAt',
  'finishedAt',
  'changed',
  'verdict',
  'tool',
  'model',
  'cancelRequestedAt',
  'waitingOnUncertaintyId',
  'landsJobId',
  'workEnded',
] as const satisfies readonly (keyof Job)[];
export type SummaryField = (typeof summaryFields)[number];

/** The reasons why a job is not running, in the order in which they are looked for. */
export const waitingReasons = [
  'not_yet_available',
  'agent_with_branch',
  'dependencies',
  'concurrency_key',
  'queue_paused',
  'repository_archived',
  'no_agent_serves_repository',
  'no_agent_with_capabilities',
  'agents_paused',
  'agents_at_capacity',
  'queue_position',
  'lease_of_running_attempt',
  'decision',
] as const;
export type WaitingReason = (typeof waitingReasons)[number];

/** The fields that a list adds to its summaries on request. */
export const addableFields = [
  'workspaceId',
  'role',
  'prompt',
  'requirements',
  'priority',
  'maxAttempts',
  'leaseMs',
  'leaseExpiresAt',
  'availableAt',
  'outcome',
  'outcomeReason',
  'message',
  'evidence',
  'usage',
  'budget',
  'parentJobId',
  'dependsOn',
  'concurrencyKey',
  'decisions',
  'waitingReason',
] as const satisfies readonly (Exclude<keyof Job, SummaryField> | 'waitingReason')[];

const { jobId, title, status, kind, repoId, attempt, createdAt, createdBy, ...otherFields } =
  Job.properties;

/** A job of a list: whole, or a summary and the fields that were asked for. */
export const ListedJob = Type.Object(
  {
    jobId,
    title,
    status,
    kind,
    repoId,
    attempt,
    createdAt,
    createdBy,
    ...Type.Partial(Type.Object(otherFields)).properties,
    costUsd: Type.Optional(
      Type.Number({ minimum: 0, description: 'In summaries: the cost that the usage names.' }),
    ),
    failure: Type.Optional(
      Text(TITLE_CHARS_MAX, { description: 'In summaries of failed jobs: why, in one line.' }),
    ),
    waitingReason: Type.Optional(
      OneOf(waitingReasons, { description: 'In summaries of pending jobs, on request.' }),
    ),
  },
  { description: 'The fields of a job. With view summary, most are absent.' },
);
export type ListedJob = Static<typeof ListedJob>;
