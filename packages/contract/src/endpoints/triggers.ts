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

/** The maximum of triggers in a workspace, because each ingest evaluates all of them. */
export const TRIGGERS_MAX = 100;
export const CONDITIONS_MAX = 20;
/** The maximum length of a regular expression, in the syntax of RE2. */
export const PATTERN_CHARS_MAX = 200;
export const TEMPLATE_CHARS_MAX = 20_000;
export const HOURLY_CAP_DEFAULT = 60;
export const HOURLY_CAP_MAX = 1_000;

/** One condition on an event. */
export const TriggerCondition = Type.Object({
  path: Text(500, {
    minLength: 1,
    description:
      'The path of the value in the event: names and list indices separated by dots, such as ' +
      'data.labels.0, or a JSON pointer, such as /data/labels/0.',
  }),
  op: OneOf(conditionOps),
  value: Type.Optional(
    Type.Union([Text(1_000), Type.Number(), Type.Boolean(), Type.Null()], {
      description:
        'For eq and ne: a string, number, boolean or null. For contains: part of a string, or an ' +
        'element of a list. For matches: a regular expression (RE2), found anywhere in the ' +
        'value. For exists: true (the default) or false. A missing value matches only ne, and ' +
        'exists with false.',
    }),
  ),
});
export type TriggerCondition = Static<typeof TriggerCondition>;

/** The events that a trigger matches. All given fields must match. */
export const TriggerMatch = Type.Object({
  source: Type.Optional(Text(SOURCE_CHARS_MAX, { minLength: 1, description: 'The exact source.' })),
  type: Type.Optional(Text(255, { minLength: 1, description: 'The exact type.' })),
  where: Defaulted(List(TriggerCondition, CONDITIONS_MAX), []),
});
export type TriggerMatch = Static<typeof TriggerMatch>;

export const CronPattern = Text(200, {
  minLength: 1,
  description:
    'Five fields: minute, hour, day of month, month, day of week. Such as 0 9 * * MON-FRI.',
});
export const TimeZone = Text(100, {
  minLength: 1,
  description:
    'An IANA name, such as Europe/Berlin. A time that the change to summer time skips fires ' +
    'right after the change. A time that the change back repeats fires once.',
});

const template =
  '{{event.title}} is replaced by that field of the event (id, source, type, title, content, ' +
  'actor, threadRef, sourceRef, occurredAt, contextItemId, data.…, extensions.…), as far as the ' +
  'data policy keeps it. {{trigger.name}} and {{schedule.slotAt}} work too. ';

export const RunRefTemplate = Text(500, {
  minLength: 1,
  description: `${template}A missing value is replaced by the id of the event or slot.`,
});
export const TitleTemplate = Text(1_000, {
  minLength: 1,
  description: `${template}The title of a new run.`,
});
export const PromptTemplate = Text(TEMPLATE_CHARS_MAX, {
  minLength: 1,
  description:
    `${template}A missing value is replaced by nothing. Text of an event is fenced and labelled as ` +
    'untrusted; {{{event.title}}} inserts it as it is, without hidden characters.',
});

export const HourlyCap = Integer(
  1,
  HOURLY_CAP_MAX,
  'How many runs the trigger starts in 60 minutes. Beyond that, its result is capped.',
);

/**
 * The result of a trigger for one event or slot.
 * - `started`: it started a run with a job.
 * - `capped`: it has reached its hourly cap.
 * - `refused`: it could not start a run; `reason` says why.
 * - `already_started`: an earlier evaluation of the same event started the run.
 */
export const firingOutcomes = ['started', 'capped', 'refused', 'already_started'] as const;
export type FiringOutcome = (typeof firingOutcomes)[number];

export const refusalReasons = [
  'repository_not_found',
  'repository_archived',
  'prompt_empty',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** How often one event can be replayed after its arrival. */
export const REPLAYS_MAX = 100;

export const TriggerFiring = Type.Object({
  triggerId: Id('trigger'),
  replay: Integer(0, REPLAYS_MAX, 'The number of the replay, or 0 for the arrival of the event.'),
  outcome: OneOf(firingOutcomes),
  reason: Nullable(OneOf(refusalReasons)),
  runId: Nullable(Id('run')),
  jobId: Nullable(Id('job')),
  at: Timestamp(),
});
export type TriggerFiring = Static<typeof TriggerFiring>;

/** How many firings of one trigger can be read. */
export const LATEST_FIRINGS = 20;

const LatestFiring = Type.Object({
  firing: TriggerFiring,
  eventId: Nullable(Id('integrationEvent', 'The event that caused it; null for a slot.')),
});

/** A trigger starts a run, by a matching event or by a schedule. */
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
  nextFireAt: Nullable(Timestamp('The next time of an enabled schedule.')),
  lastFiredAt: Nullable(Timestamp('When the trigger last started a run.')),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
});
export type Trigger = Static<typeof Trigger>;

export const exampleTrigger: Trigger = {
  triggerId: 'trg_1j78s1sg0003qjivc1qi',
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
const exampleRef = { workspaceId: exampleIds.workspace, triggerId: exampleTrigger.triggerId };
export const exampleFiring: TriggerFiring = {
  triggerId: exampleTrigger.triggerId,
  replay: 0,
  outcome: 'started',
  reason: null,
  runId: exampleIds.run,
  jobId: exampleIds.job,
  at: '2026-11-02T09:00:00.000Z',
};

export const triggers = {
  list: defineEndpoint({
    name: 'triggersList',
    path: '/control-plane/v1/triggers/list',
    tag: 'Triggers',
    scopes: ['read', 'integrate'],
    console: true,
    repeat: 'safe',
    summary: 'List the triggers of a workspace',
    description: 'Newest first. The optional fields are filters.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      type: Type.Optional(OneOf(triggerTypes)),
      repoId: Type.Optional(Id('repository')),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ triggers: List(Trigger, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, triggers: [exampleTrigger], nextCursor: null },
    },
  }),
  get: defineEndpoint({
    name: 'triggersGet',
    path: '/control-plane/v1/triggers/get',
    tag: 'Triggers',
    scopes: ['read', 'integrate'],
    console: true,
    repeat: 'safe',
    summary: 'Read a trigger',
    description: 'People create and change triggers at the console.',
    request: Type.Object({ workspaceId: Id('workspace'), triggerId: Id('trigger') }),
    response: Ok({ trigger: Trigger }),
    errors: ['TRIGGER_NOT_FOUND'],
    example: {
      request: exampleRef,
      response: { ok: true, trigger: exampleTrigger },
    },
  }),
  listFirings: defineEndpoint({
    name: 'triggersListFirings',
    path: '/control-plane/v1/triggers/list-firings',
    tag: 'Triggers',
    scopes: ['read', 'integrate'],
    console: true,
    repeat: 'safe',
    summary: 'List the latest firings of a trigger',
    description: `The last ${LATEST_FIRINGS}, newest first: what each event or slot did.`,
    request: Type.Object({ workspaceId: Id('workspace'), triggerId: Id('trigger') }),
    response: Ok({ firings: List(LatestFiring, LATEST_FIRINGS) }),
    errors: ['TRIGGER_NOT_FOUND'],
    example: {
      request: exampleRef,
      response: {
        ok: true,
        firings: [{ firing: exampleFiring, eventId: 'ing_1j78s1s80003qjivc1qh' }],
      },
    },
  }),
} as const;
