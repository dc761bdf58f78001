import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Id,
  Integer,
  Json,
  JsonObject,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { SOURCE_CHARS_MAX } from './context-items.ts';
import { exampleIds } from './example-ids.ts';
import { Priority } from './job-schemas.ts';
import {
  exampleFiring,
  exampleTrigger,
  REPLAYS_MAX,
  refusalReasons,
  TRIGGERS_MAX,
  TriggerFiring,
} from './triggers.ts';

export const eventChannels = ['ingest', 'chat'] as const;
export const eventStatuses = ['accepted', 'ignored'] as const;

/** Why an event was ignored. */
export const ignoredReasons = [
  'team_unmapped',
  'team_confirmation',
  'event_type',
  'bot_message',
  'unchanged',
  'stale',
] as const;
export type IgnoredReason = (typeof ignoredReasons)[number];

const UnmatchedTrigger = Type.Object({
  triggerId: Id('trigger'),
  failed: Text(600, {
    description:
      'The part that did not match: source, type, or where/ and the index of the condition; ' +
      'budget when the patterns of the triggers together cost more than one event may.',
  }),
});
export type UnmatchedTrigger = Static<typeof UnmatchedTrigger>;

const summaryFields = {
  eventId: Id('integrationEvent'),
  workspaceId: Id('workspace'),
  channel: OneOf(eventChannels),
  source: Text(SOURCE_CHARS_MAX),
  type: Text(255),
  title: Nullable(Text(1_000)),
  actor: Nullable(Text(300)),
  threadRef: Nullable(Text(1_000)),
  sourceRef: Nullable(Text(2_000)),
  occurredAt: Timestamp(),
  receivedAt: Timestamp(),
  status: OneOf(eventStatuses),
  ignored: Nullable(OneOf(ignoredReasons, { description: 'Why the event was ignored.' })),
  contextItemId: Nullable(Id('contextItem')),
  replays: Integer(0, REPLAYS_MAX),
  isForgotten: Type.Boolean({
    description: 'The event is older than the retention, so its content was deleted.',
  }),
} as const;

/** An inbound event in lists of the ledger. */
export const IntegrationEventSummary = Type.Object(summaryFields);
export type IntegrationEventSummary = Static<typeof IntegrationEventSummary>;

const EventFirings = List(
  TriggerFiring,
  TRIGGERS_MAX * (REPLAYS_MAX + 1),
  'The results of triggers, in order.',
);

/** An inbound event with the results of all triggers. */
export const IntegrationEvent = Type.Object({
  ...summaryFields,
  data: Json("The part of the source's data that the data policy keeps, or null."),
  extensions: JsonObject('The extension attributes of a CloudEvent, under the same policy.'),
  firings: EventFirings,
  unmatched: List(UnmatchedTrigger, TRIGGERS_MAX, 'The enabled triggers that did not match.'),
});
export type IntegrationEvent = Static<typeof IntegrationEvent>;

/** The result that a trigger would have for an event. */
const TriggerTest = Type.Object({
  failed: Nullable(UnmatchedTrigger.properties.failed),
  refused: Nullable(
    OneOf(refusalReasons, { description: 'Why it would start no run although it matches.' }),
  ),
  job: Nullable(
    Type.Object(
      {
        repoId: Id('repository'),
        runRef: Text(255),
        runTitle: Text(300),
        prompt: Text(TEXT_CHARS_MAX),
        priority: Priority,
      },
      { description: 'The job that it would enqueue, and its run; null if it would not.' },
    ),
  ),
});
export type TriggerTest = Static<typeof TriggerTest>;

const exampleSummary: IntegrationEventSummary = {
  eventId: 'ing_1j78s1s80003qjivc1qh',
  workspaceId: exampleIds.workspace,
  channel: 'ingest',
  source: 'tracker',
  type: 'issue.opened',
  title: 'Load balancer needs a health check',
  actor: 'ada@acme.dev',
  threadRef: null,
  sourceRef: 'https://tracker.acme.dev/issues/4711',
  occurredAt: '2026-11-02T08:59:58.000Z',
  receivedAt: '2026-11-02T09:00:00.000Z',
  status: 'accepted',
  ignored: null,
  contextItemId: 'ctx_1j78s1og0003qjivc1q2',
  replays: 0,
  isForgotten: false,
};
const exampleEvent: IntegrationEvent = {
  ...exampleSummary,
  data: { labels: ['api'], number: 4711 },
  extensions: {},
  firings: [exampleFiring],
  unmatched: [],
};
const eventRef = { workspaceId: Id('workspace'), eventId: Id('integrationEvent') };
const exampleRef = { workspaceId: exampleIds.workspace, eventId: exampleSummary.eventId };

const ledgerRow = { tag: 'Integrations', console: true } as const;

export const integrationEvents = {
  list: defineEndpoint({
    ...ledgerRow,
    name: 'integrationEventsList',
    path: '/control-plane/v1/integration-events/list',
    scopes: ['read', 'integrate'],
    repeat: 'safe',
    summary: 'List inbound events',
    description: 'The ledger, newest first. The optional fields are filters.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      channel: Type.Optional(OneOf(eventChannels)),
      status: Type.Optional(OneOf(eventStatuses)),
      source: Type.Optional(Text(SOURCE_CHARS_MAX, { minLength: 1 })),
      type: Type.Optional(Text(255, { minLength: 1 })),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({
      events: List(IntegrationEventSummary, LIST_LIMIT_MAX),
      nextCursor: NextCursor,
    }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, events: [exampleSummary], nextCursor: null },
    },
  }),
  get: defineEndpoint({
    ...ledgerRow,
    name: 'integrationEventsGet',
    path: '/control-plane/v1/integration-events/get',
    scopes: ['read', 'integrate'],
    repeat: 'safe',
    summary: 'Read an inbound event and its results',
    description: 'Returns the data that the policy keeps and the result of each trigger.',
    request: Type.Object(eventRef),
    response: Ok({ event: IntegrationEvent }),
    errors: ['EVENT_NOT_FOUND'],
    example: { request: exampleRef, response: { ok: true, event: exampleEvent } },
  }),
  replay: defineEndpoint({
    ...ledgerRow,
    name: 'integrationEventsReplay',
    path: '/control-plane/v1/integration-events/replay',
    scopes: ['integrate'],
    repeat: 'once',
    summary: 'Evaluate the triggers for an inbound event again',
    description:
      'Evaluates the enabled triggers as they are now, with the data that the policy has kept. ' +
      'The context item does not change. A trigger that already started a run for this event does ' +
      'not start another and reports already_started. Hourly caps apply. Events that were ignored, ' +
      `whose content was deleted, or that were replayed ${REPLAYS_MAX} times are INVALID_REQUEST. ` +
      'At the console this is for owners and admins. Audited.',
    request: Type.Object(eventRef),
    response: Ok({
      replay: Integer(1, REPLAYS_MAX, 'The number of this replay.'),
      firings: List(TriggerFiring, TRIGGERS_MAX, 'The results of this replay.'),
      unmatched: List(UnmatchedTrigger, TRIGGERS_MAX),
    }),
    errors: ['EVENT_NOT_FOUND'],
    example: {
      request: exampleRef,
      response: {
        ok: true,
        replay: 1,
        firings: [{ ...exampleFiring, replay: 1, outcome: 'already_started' }],
        unmatched: [],
      },
    },
  }),
  testTrigger: defineEndpoint({
    ...ledgerRow,
    name: 'integrationEventsTestTrigger',
    path: '/control-plane/v1/integration-events/test-trigger',
    scopes: ['read', 'integrate'],
    repeat: 'safe',
    summary: 'Say what a trigger would do with an inbound event',
    description:
      'Evaluates the match and the templates of an event trigger, enabled or not, with the data ' +
      'that the policy has kept. Changes nothing; neither the hourly cap nor runs that the event ' +
      'has started count. Schedules, and events that were ignored or whose content was deleted, ' +
      'are INVALID_REQUEST.',
    request: Type.Object({ ...eventRef, triggerId: Id('trigger') }),
    response: Ok({ test: TriggerTest }),
    errors: ['EVENT_NOT_FOUND', 'TRIGGER_NOT_FOUND'],
    example: {
      request: { ...exampleRef, triggerId: exampleTrigger.triggerId },
      response: {
        ok: true,
        test: {
          failed: null,
          refused: null,
          job: {
            repoId: exampleIds.repository,
            runRef: 'issue-4711',
            runTitle: 'Load balancer needs a health check',
            prompt: 'Plan a run for this issue.',
            priority: 0,
          },
        },
      },
    },
  }),
} as const;
