import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Id,
  IdempotencyKey,
  Json,
  JsonObject,
  List,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { SOURCE_CHARS_MAX } from './context-items.ts';
import { exampleIds } from './example-ids.ts';
import { ignoredReasons } from './integration-events.ts';
import { ContentType } from './upload-schemas.ts';
import { WorkspaceSlug } from './workspaces.ts';

/** Carries `SVC_INTEGRATION_EVENT_SECRET` (docs/reference/specification.md, Authentication). */
export const INTEGRATION_SECRET_HEADER = 'x-svc-integration-event-secret';

const Source = Text(SOURCE_CHARS_MAX, {
  minLength: 1,
  description: 'The system that sends the event.',
});
const EventType = Text(255, {
  minLength: 1,
  description: 'The kind of event, such as issue.opened.',
});
const EventData = Json('Further data of the source. Triggers can match on it.');

const ownFields = {
  idempotencyKey: IdempotencyKey,
  source: Source,
  type: EventType,
  workspaceId: Type.Optional(Id('workspace')),
  workspaceSlug: Type.Optional(WorkspaceSlug),
  occurredAt: Type.Optional(Timestamp('If absent, now.')),
  title: Type.Optional(Text(1_000)),
  content: Type.Optional(
    Text(TEXT_CHARS_MAX, { description: 'It becomes the text of the context item.' }),
  ),
  contentType: Type.Optional(ContentType),
  actor: Type.Optional(
    Text(300, { description: 'Who caused the event, as the source names them.' }),
  ),
  threadRef: Type.Optional(Text(1_000, { minLength: 1 })),
  sourceRef: Type.Optional(Text(2_000, { minLength: 1 })),
  data: Type.Optional(EventData),
} as const;

/** An inbound event in the hub's own fields. It needs workspaceId or workspaceSlug. */
export const OwnEvent = Type.Object(ownFields, {
  description: "An inbound event in the hub's own fields.",
  anyOf: [{ required: ['workspaceId'] }, { required: ['workspaceSlug'] }],
});
export type OwnEvent = Static<typeof OwnEvent>;

const cloudEventFields = {
  specversion: Type.Unsafe<'1.0'>({ type: 'string', const: '1.0' }),
  id: Text(255, { minLength: 1, description: 'Together with source, it is the idempotency key.' }),
  source: Source,
  type: EventType,
  workspaceid: Id('workspace', 'An extension attribute: the id of the workspace.'),
  time: Type.Optional(Timestamp('If absent, now.')),
  subject: Type.Optional(Text(1_000, { minLength: 1 })),
  datacontenttype: Type.Optional(ContentType),
  dataschema: Type.Optional(Text(2_000, { minLength: 1 })),
  data: Type.Optional(EventData),
  data_base64: Type.Optional(Text(TEXT_CHARS_MAX, { description: 'Binary data, in base64.' })),
} as const;

/** A CloudEvents 1.0 event in structured JSON mode. The hub keeps further extension attributes. */
export const CloudEvent = Type.Object(cloudEventFields, {
  description: 'A CloudEvents 1.0 event in structured JSON mode.',
  examples: [
    {
      specversion: '1.0',
      id: '4711-opened',
      source: 'https://tracker.acme.dev',
      type: 'dev.acme.issue.opened',
      workspaceid: exampleIds.workspace,
      time: '2026-11-02T08:59:58.000Z',
      subject: 'issues/4711',
      datacontenttype: 'application/json',
      data: { title: 'Load balancer needs a health check' },
    },
  ],
});
export type CloudEvent = Static<typeof CloudEvent>;

/** The fields of both forms. Each form says which fields it requires. */
const IngestRequest = Type.Object(
  {
    ...Type.Partial(Type.Object(cloudEventFields)).properties,
    ...Type.Partial(Type.Object(ownFields)).properties,
  },
  {
    description: 'An OwnEvent or a CloudEvent. A body with specversion is read as a CloudEvent.',
    anyOf: [OwnEvent, CloudEvent],
  },
);

export const TriggeredRun = Type.Object(
  { triggerId: Id('trigger'), runId: Id('run'), jobId: Id('job') },
  { description: 'A run that a matching trigger started.' },
);
export type TriggeredRun = Static<typeof TriggeredRun>;

const exampleEventId = 'ing_1j78s1s80003qjivc1qh';

export const integrations = {
  ingest: defineEndpoint({
    name: 'integrationsIngest',
    path: '/integrations/events/v1/ingest',
    tag: 'Integrations',
    auth: 'integration-secret',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Ingest an event from another system',
    description:
      "The body has the hub's own fields, or is a CloudEvents 1.0 structured event with the " +
      'extension workspaceid; its source and id are then the key. The event goes into the ' +
      'context store as far as the data policy allows, and matching triggers start their runs in ' +
      'the same transaction. A repeated key returns the first answer with duplicate: true and ' +
      'starts nothing, even if the rest of the body differs.',
    request: IngestRequest,
    response: Ok({
      eventId: Id('integrationEvent'),
      duplicate: Type.Boolean(),
      contextItemId: Nullable(Id('contextItem')),
      triggered: List(TriggeredRun, 100),
    }),
    example: {
      request: {
        workspaceSlug: 'acme',
        idempotencyKey: 'tracker-4711-opened',
        source: 'tracker',
        type: 'issue.opened',
        occurredAt: '2026-11-02T08:59:58.000Z',
        title: 'Load balancer needs a health check',
        content: 'Since the move the balancer has nothing to ask. GET /health would do.',
        contentType: 'text/plain',
        actor: 'ada@acme.dev',
        sourceRef: 'https://tracker.acme.dev/issues/4711',
        data: { labels: ['api'] },
      },
      response: {
        ok: true,
        eventId: exampleEventId,
        duplicate: false,
        contextItemId: 'ctx_1j78s1og0003qjivc1q2',
        triggered: [
          {
            triggerId: 'trg_1j78s1sg0003qjivc1qi',
            runId: exampleIds.run,
            jobId: exampleIds.job,
          },
        ],
      },
    },
  }),
  chatEvents: defineEndpoint({
    name: 'integrationsChatEvents',
    path: '/integrations/chat/events/v1',
    tag: 'Integrations',
    auth: 'chat-signature',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Receive an event of the team chat',
    description:
      'Takes the payload of the Slack Events API. url_verification returns its challenge. ' +
      'event_id identifies repeated deliveries. Messages, thread replies and mentions become ' +
      'context items. For other events the answer is 200 with ignored, and the ledger keeps them.',
    request: Type.Object({
      type: Text(100, { minLength: 1, description: 'url_verification or event_callback.' }),
      challenge: Type.Optional(Text(1_000)),
      team_id: Type.Optional(Text(100)),
      api_app_id: Type.Optional(Text(100)),
      event_id: Type.Optional(Text(200)),
      event_time: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix time in seconds.' })),
      event: Type.Optional(JsonObject('The inner event, such as a message.')),
    }),
    response: Ok({
      challenge: Type.Optional(Text(1_000, { description: 'With url_verification.' })),
      eventId: Type.Optional(Id('integrationEvent')),
      duplicate: Type.Optional(Type.Boolean()),
      ignored: Type.Optional(OneOf(ignoredReasons, { description: 'Why nothing came of it.' })),
    }),
    example: {
      request: {
        type: 'event_callback',
        team_id: 'T024BE7LD',
        event_id: 'Ev0PV52K25',
        event_time: 1_793_610_000,
        event: {
          type: 'app_mention',
          user: 'U061F7AUR',
          text: '<@U0LAN0Z89> may the health check report the version?',
          channel: 'C0LAN2Q65',
          ts: '1793610000.000200',
        },
      },
      response: { ok: true, eventId: exampleEventId, duplicate: false },
    },
  }),
} as const;
