import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Defaulted, Id, Integer, List, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

export const ACTIVITY_TITLE_CHARS_MAX = 300;
export const ACTIVITY_ID_CHARS_MAX = 200;
export const ACTIVITY_PATH_CHARS_MAX = 500;
export const ACTIVITY_FILES_MAX = 20;
export const PLAN_ENTRIES_MAX = 50;
/** Activities of an attempt that the hub keeps; the text of further entries is kept. */
export const ACTIVITIES_MAX = 5_000;
export const ACTIVITIES_LIMIT_DEFAULT = 500;
export const ACTIVITIES_LIMIT_MAX = 1_000;

export const toolCallKinds = [
  'read',
  'edit',
  'search',
  'execute',
  'fetch',
  'think',
  'other',
] as const;
export type ToolCallKind = (typeof toolCallKinds)[number];
export const toolCallStatuses = ['running', 'done', 'failed'] as const;
export const planStatuses = ['pending', 'in_progress', 'completed'] as const;

const Path = Text(ACTIVITY_PATH_CHARS_MAX, {
  description: 'Relative to the repository, where the file is in it.',
});
const Count = Integer(0, 1_000_000_000_000);

const ToolCall = Type.Object({
  id: Text(ACTIVITY_ID_CHARS_MAX, {
    minLength: 1,
    description: 'Of the call within its attempt: its end has the ID of its start.',
  }),
  kind: OneOf(toolCallKinds),
  title: Text(ACTIVITY_TITLE_CHARS_MAX, {
    description: 'The first line of a command, or what the tool says.',
  }),
  status: OneOf(toolCallStatuses),
  locations: Type.Optional(List(Path, ACTIVITY_FILES_MAX, 'The files that the call is about.')),
  changes: Type.Optional(
    List(
      Type.Object({
        path: Path,
        added: Type.Optional(Count),
        removed: Type.Optional(Count),
      }),
      ACTIVITY_FILES_MAX,
      'Changed files. The agent sends counts of lines unless its changes are shared as names.',
    ),
  ),
  exitCode: Type.Optional(Type.Integer({ minimum: -2_147_483_648, maximum: 4_294_967_295 })),
  durationMs: Type.Optional(Integer(0, Number.MAX_SAFE_INTEGER, 'From its start to its end.')),
});

const Plan = Type.Object({
  entries: List(
    Type.Object({
      text: Text(ACTIVITY_TITLE_CHARS_MAX),
      status: OneOf(planStatuses),
      priority: Type.Optional(OneOf(['high', 'medium', 'low'])),
    }),
    PLAN_ENTRIES_MAX,
    'The whole plan, as it is now.',
  ),
});

const UsageSoFar = Type.Object({
  inputTokens: Type.Optional(Count),
  outputTokens: Type.Optional(Count),
  cachedInputTokens: Type.Optional(Count),
  costUsd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
  contextTokens: Type.Optional(Integer(0, 1_000_000_000_000, 'In the context of the model.')),
  contextTokensMax: Type.Optional(Count),
});

const ToolSession = Type.Object({
  sessionId: Text(ACTIVITY_ID_CHARS_MAX, { description: 'By which the tool resumes it.' }),
  tool: Type.Optional(Text(128, { description: 'Name and version, by its own words.' })),
  model: Type.Optional(Text(128)),
});

/**
 * Says what a piece of output is about; its text says the same to people. It has a field for
 * each kind, so that a hub or a reader ignores a kind that it does not know.
 */
export const Activity = Type.Object(
  {
    toolCall: Type.Optional(ToolCall),
    plan: Type.Optional(Plan),
    usage: Type.Optional(UsageSoFar),
    session: Type.Optional(ToolSession),
    isMessage: Type.Optional(Type.Boolean()),
  },
  {
    description:
      'toolCall: a call of a tool began or ended. plan: the plan has changed. usage: what the ' +
      'attempt has used so far. session: the session of the tool. isMessage: the model speaks, ' +
      'up to the next activity.',
  },
);
export type Activity = Static<typeof Activity>;
export type ToolCall = Static<typeof ToolCall>;
export type Plan = Static<typeof Plan>;
export type UsageSoFar = Static<typeof UsageSoFar>;
export type ToolSession = Static<typeof ToolSession>;

const ActivityItem = Type.Object({
  seq: Integer(1, Number.MAX_SAFE_INTEGER, 'Of the event in the timeline of the job.'),
  line: Integer(1, Number.MAX_SAFE_INTEGER, 'The line of the log in which its text begins.'),
  at: Timestamp("By the agent's clock if sent."),
  activity: Activity,
});
export type ActivityItem = Static<typeof ActivityItem>;

/** The activities of a tool in the log of an attempt. */
export const jobActivity = {
  activity: defineEndpoint({
    name: 'jobsActivity',
    path: '/control-plane/v1/jobs/activity',
    tag: 'Jobs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-job',
    summary: 'Read what the tool of an attempt did',
    description:
      'The tool calls, plans, use of tokens and the session of an attempt, in the order of the ' +
      'log. A call has two items, its start and its end, or only an end. The latest plan and ' +
      'usage count. Send nextAfter as after to get what came since. A page of long items ends ' +
      'before its limit; only an empty one means that there are no more. The first ' +
      `${ACTIVITIES_MAX.toLocaleString('en')} of an attempt are kept.`,
    request: Type.Object({
      workspaceId: Id('workspace'),
      jobId: Id('job'),
      attempt: Type.Optional(Integer(1, 1_000_000, 'If absent, the latest attempt.')),
      after: Defaulted(Integer(0, Number.MAX_SAFE_INTEGER, 'The seq of an item.'), 0),
      limit: Defaulted(Integer(1, ACTIVITIES_LIMIT_MAX), ACTIVITIES_LIMIT_DEFAULT),
    }),
    response: Ok({
      attempt: Integer(0, 1_000_000),
      items: List(ActivityItem, ACTIVITIES_LIMIT_MAX),
      nextAfter: Integer(0, Number.MAX_SAFE_INTEGER, 'Send it as after to get the next items.'),
    }),
    errors: ['JOB_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, jobId: exampleIds.job },
      response: {
        ok: true,
        attempt: 1,
        items: [
          {
            seq: 12,
            line: 4,
            at: '2026-11-02T09:00:04.000Z',
            activity: {
              toolCall: {
                id: 'toolu_01',
                kind: 'execute',
                title: 'npm test',
                status: 'failed',
                exitCode: 1,
                durationMs: 4_120,
              },
            },
          },
        ],
        nextAfter: 12,
      },
    },
  }),
} as const;
