import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Defaulted,
  Id,
  Integer,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../schema.ts';
import { SOURCE_CHARS_MAX } from './context-items.ts';
import { exampleIds } from './example-ids.ts';
import { Priority } from './job-schemas.ts';

export const triggerTypes = ['event', 'schedule'] as const;
export type TriggerType = (typeof triggerTypes)[number];

export const conditionOps = ['eq', 'ne', 'contains', 'matches', 'exists'] as const;
export type ConditionOp = (typeof conditionOps)[number];

/** Triggers of one workspace: an ingest looks at every one of them. */
export const TRIGGERS_MAX = 100;
export const CONDITIONS_MAX = 20;
/** Characters of a regular expression, in the syntax of RE2. */
export const PATTERN_CHARS_MAX = 200;
export const TEMPLATE_CHARS_MAX = 20_000;
export const HOURLY_CAP_DEFAULT = 60;
export const HOURLY_CAP_MAX = 1_000;

/** One condition on an event. */
export const TriggerCondition = Type.Object({
  path: Text(500, {
    minLength: 1,
    description:
      'Where the value stands in the event: names and list positions with dots between them, as ' +
      'in data.labels.0, or a JSON pointer, as in /data/labels/0.',
  }),
  op: OneOf(conditionOps),
  value: Type.Optional(
    Type.Union([Text(1_000), Type.Number(), Type.Boolean(), Type.Null()], {
      description:
        'eq and ne: a string, number, boolean or null. contains: part of a string, or an element ' +
        'of a list. matches: a regular expression (RE2, found anywhere). exists: true (when ' +
        'absent) or false. A missing value only fits ne and exists false.',
    }),
  ),
});
export type TriggerCondition = Static<typeof TriggerCondition>;

/** Which events a trigger is for; everything that is said must fit. */
export const TriggerMatch = Type.Object({
  source: Type.Optional(
    Text(SOURCE_CHARS_MAX, { minLength: 1, description: 'Exactly this source.' }),
  ),
  type: Type.Optional(Text(255, { minLength: 1, description: 'Exactly this type.' })),
  where: Defaulted(List(TriggerCondition, CONDITIONS_MAX), []),
});
export type TriggerMatch = Static<typeof TriggerMatch>;

export const CronPattern = Text(200, {
  minLength: 1,
  description:
    'Five fields: minute, hour, day of month, month, day of week; as in 0 9 * * MON-FRI.',
});
export const TimeZone = Text(100, {
  minLength: 1,
  description:
    'An IANA name, such as Europe/Berlin. A time that a change to summer time skips fires right ' +
    'after it; one that the way back repeats fires once.',
});

const template =
  '{{event.title}} is replaced by that part of the event (id, source, type, title, content, ' +
  'actor, threadRef, sourceRef, occurredAt, contextItemId, data.…, extensions.…), as the data policy keeps it; ' +
  '{{trigger.name}} and {{schedule.slotAt}} work as well. ';

export const RunRefTemplate = Text(500, {
  minLength: 1,
  description: `${template}Where a value is missing, the id of the event or slot stands.`,
});
export const TitleTemplate = Text(1_000, {
  minLength: 1,
  description: `${template}Title of a new run.`,
});
export const PromptTemplate = Text(TEMPLATE_CHARS_MAX, {
  minLength: 1,
  description: `${template}Where a value is missing, nothing stands.`,
});

export const HourlyCap = Integer(
  1,
  HOURLY_CAP_MAX,
  'Runs that it starts in any 60 minutes; beyond, the ledger says capped.',
);

/** What starts a run: an event that matches, or the clock. */
export const Trigger = Type.Object({
  triggerId: Id('trigger'),
  workspaceId: Id('workspace'),
  name: Text(200),
  type: OneOf(triggerTypes),
  enabled: Type.Boolean(),
  match: Nullable(TriggerMatch),
  cron: Nullable(CronPattern),
  timeZone: Nullable(TimeZone),
  repoId: Id('repository'),
  runRefTemplate: RunRefTemplate,
  titleTemplate: Nullable(TitleTemplate),
  promptTemplate: PromptTemplate,
  priority: Priority,
  hourlyCap: HourlyCap,
  nextFireAt: Nullable(Timestamp('Of an enabled schedule.')),
  lastFiredAt: Nullable(Timestamp('When it last started a run.')),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
});
export type Trigger = Static<typeof Trigger>;

export const exampleTrigger: Trigger = {
  triggerId: 'trg_0199d1c0f2007000a1b2c3d4e5f60752',
  workspaceId: exampleIds.workspace,
  name: 'Opened issues',
  type: 'event',
  enabled: true,
  match: {
    source: 'tracker',
    type: 'issue.opened',
    where: [{ path: 'data.labels', op: 'contains', value: 'api' }],
  },
  cron: null,
  timeZone: null,
  repoId: exampleIds.repository,
  runRefTemplate: 'issue-{{event.data.number}}',
  titleTemplate: '{{event.title}}',
  promptTemplate: 'Plan a run for this issue: {{event.title}}\n\n{{event.content}}',
  priority: 0,
  hourlyCap: HOURLY_CAP_DEFAULT,
  nextFireAt: null,
  lastFiredAt: '2026-11-02T09:00:00.000Z',
  createdAt: '2026-11-01T09:00:00.000Z',
  updatedAt: '2026-11-01T09:00:00.000Z',
};

export const triggers = {
  list: defineEndpoint({
    name: 'triggersList',
    method: 'POST',
    path: '/control-plane/v1/triggers/list',
    tag: 'Triggers',
    auth: 'bearer',
    scopes: ['read', 'integrate'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'List the triggers of a workspace',
    description: 'Newest first, filtered by any of the optional fields.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      type: Type.Optional(OneOf(triggerTypes)),
      repoId: Type.Optional(Id('repository')),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ triggers: List(Trigger, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    errors: ['WORKSPACE_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, triggers: [exampleTrigger], nextCursor: null },
    },
  }),
  get: defineEndpoint({
    name: 'triggersGet',
    method: 'POST',
    path: '/control-plane/v1/triggers/get',
    tag: 'Triggers',
    auth: 'bearer',
    scopes: ['read', 'integrate'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'Read a trigger',
    description: 'Triggers are made and changed by people, at the console.',
    request: Type.Object({ workspaceId: Id('workspace'), triggerId: Id('trigger') }),
    response: Ok({ trigger: Trigger }),
    errors: ['WORKSPACE_NOT_FOUND', 'TRIGGER_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, triggerId: exampleTrigger.triggerId },
      response: { ok: true, trigger: exampleTrigger },
    },
  }),
} as const;
