import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Defaulted,
  Id,
  Integer,
  JsonObject,
  List,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { Activity } from './job-activity.ts';
import { ClaimGeneration, claimErrors } from './job-schemas.ts';

/** Exact wire values (docs/reference/specification.md, Job event). */
export const jobEventKinds = [
  'enqueued',
  'claimed',
  'heartbeat',
  'log',
  'completed',
  'failed',
  'blocked',
  'canceled',
  'recovered',
] as const;
export type JobEventKind = (typeof jobEventKinds)[number];

export const JOB_EVENTS_LIMIT_DEFAULT = 100;
export const JOB_EVENTS_LIMIT_MAX = 1_000;
/** The maximum of entries in one append. An agent with more entries sends several. */
export const JOB_LOG_ENTRIES_MAX = 500;
const JOB_LOG_CHARS_MAX = 65_536;

export const JobEvent = Type.Object({
  eventId: Id('jobEvent'),
  seq: Integer(1, Number.MAX_SAFE_INTEGER, 'Increases within the job.'),
  jobId: Id('job'),
  kind: OneOf(jobEventKinds),
  at: Timestamp(),
  attempt: Integer(0, 1_000_000),
  agentId: Nullable(Id('agent')),
  message: Nullable(Text(TEXT_CHARS_MAX)),
  data: Nullable(JsonObject('Further fields of the kind, such as the count of folded heartbeats.')),
});
export type JobEvent = Static<typeof JobEvent>;

/** A piece of the output of a tool. */
export const JobLogEntry = Type.Object({
  logSeq: Integer(
    1,
    Number.MAX_SAFE_INTEGER,
    "The agent's number of the entry. It increases within an attempt.",
  ),
  message: Text(JOB_LOG_CHARS_MAX),
  stream: Type.Optional(OneOf(['stdout', 'stderr', 'agent'])),
  at: Type.Optional(
    Timestamp("The time by the agent's clock. The hub stores it in addition to its own."),
  ),
  activity: Type.Optional(Activity),
});
export type JobLogEntry = Static<typeof JobLogEntry>;

export const jobEvents = {
  listForJob: defineEndpoint({
    name: 'jobEventsListForJob',
    path: '/control-plane/v1/job-events/list-for-job',
    tag: 'Job events',
    scopes: ['read', 'agent', 'enqueue'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    jobToken: 'own-job',
    summary: 'Read the timeline of a job',
    description:
      'Ascending by seq. With after, returns the events behind it; without, the last limit ' +
      'events. Heartbeats without a message fold into one event with data.count and the latest ' +
      'time. Send nextAfter as after to continue.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      jobId: Id('job'),
      limit: Defaulted(Integer(1, JOB_EVENTS_LIMIT_MAX), JOB_EVENTS_LIMIT_DEFAULT),
      after: Type.Optional(Integer(0, Number.MAX_SAFE_INTEGER, 'The seq of an event.')),
    }),
    response: Ok({
      events: List(JobEvent, JOB_EVENTS_LIMIT_MAX),
      nextAfter: Integer(0, Number.MAX_SAFE_INTEGER, 'Send it as after to get the next events.'),
    }),
    errors: ['JOB_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, jobId: exampleIds.job, limit: 100 },
      response: {
        ok: true,
        events: [
          {
            eventId: exampleIds.jobEvent,
            seq: 1,
            jobId: exampleIds.job,
            kind: 'enqueued',
            at: '2026-11-02T09:00:00.000Z',
            attempt: 0,
            agentId: null,
            message: null,
            data: null,
          },
        ],
        nextAfter: 1,
      },
    },
  }),
  append: defineEndpoint({
    name: 'jobEventsAppend',
    path: '/control-plane/v1/job-events/append',
    tag: 'Job events',
    scopes: ['agent'],
    console: false,
    repeat: 'safe',
    jobToken: 'own-job',
    summary: 'Append output to the timeline of a running job',
    description:
      'Adds events of kind log. The agent numbers them, and the hub skips an entry whose logSeq ' +
      'it has for this attempt, so a retry is harmless. Entries of a job token have numbers of ' +
      'their own, the stream tool and no activity. The claim fences it like every other write.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      jobId: Id('job'),
      agentId: Id('agent'),
      claimGeneration: Type.Optional(ClaimGeneration),
      entries: Type.Array(JobLogEntry, { minItems: 1, maxItems: JOB_LOG_ENTRIES_MAX }),
    }),
    response: Ok({
      appended: Integer(0, JOB_LOG_ENTRIES_MAX),
      lastLogSeq: Integer(
        0,
        Number.MAX_SAFE_INTEGER,
        'The highest logSeq that the hub has for this attempt, of the agent or of the tool.',
      ),
      cancelRequested: Type.Optional(
        Type.Boolean({
          description: 'True: a person wants the job to end. Absent otherwise.',
        }),
      ),
    }),
    errors: ['JOB_NOT_FOUND', ...claimErrors],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        jobId: exampleIds.job,
        agentId: exampleIds.agent,
        claimGeneration: 1,
        entries: [{ logSeq: 1, message: 'npm test\n', stream: 'stdout' }],
      },
      response: { ok: true, appended: 1, lastLogSeq: 1 },
    },
  }),
} as const;
