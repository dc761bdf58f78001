import Type, { type Static } from 'typebox';
import {
  Defaulted,
  Id,
  Integer,
  List,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { ASK_MINUTES_MAX } from '../repositories.ts';
import { exampleUncertaintyId } from '../uncertainty-examples.ts';
import { defineConsoleEndpoint } from './fields.ts';

/** The maximum of channels of a person in a workspace. */
export const CHANNELS_MAX = 10;
/** The notifications of a decision that are listed: the first. */
export const NOTIFICATIONS_LISTED_MAX = 200;
/** The messages of a channel that are listed: the last. */
export const CHANNEL_MESSAGES_MAX = 50;

export const channelKinds = [
  'ntfy',
  'webhook',
  'mail',
  'push',
  'slack',
  'slack_app',
  'teams',
  'discord',
] as const;
/** Risky are approvals and risks. */
export const channelQuestions = ['all', 'risky', 'not_risky'] as const;
/** The maximum of hours between messages about questions of low risk. */
export const DIGEST_HOURS_MAX = 24;
export const notificationEvents = ['decision', 'job_ended', 'job_waits'] as const;
export const notificationStates = [
  'waiting',
  'sent',
  'failed',
  'settled',
  'skipped',
  'seen',
] as const;

const settingFields = {
  kind: OneOf(channelKinds, {
    description:
      'ntfy: a topic of an ntfy server. webhook: a signed POST (Standard Webhooks). mail: the ' +
      "address of the person's account. push: a browser of the person (Web Push). slack, teams, " +
      "discord: an incoming webhook of the chat. slack_app: direct messages of the hub's app in " +
      'Slack.',
  }),
  name: Text(100, { minLength: 1, description: 'Such as Phone.' }),
  events: List(
    OneOf(notificationEvents),
    notificationEvents.length,
    'decision: a person is needed. job_ended: a job that the person enqueued is done or failed. ' +
      'job_waits: no agent can take a job that the person enqueued.',
  ),
  showsText: Type.Boolean({
    description: 'Whether messages quote the question or name the job; locked screens show it.',
  }),
};

const Questions = OneOf(channelQuestions, {
  description: 'The decisions that the channel tells of; risky are approvals and risks.',
});

const AfterMinutes = Integer(
  0,
  ASK_MINUTES_MAX,
  'Minutes by which a decision comes later by this channel, if it is still open then.',
);

/** Where a person hears of what needs them. Secrets and the path of the URL never leave the hub. */
export const NotificationChannel = Type.Object({
  channelId: Id('notificationChannel'),
  ...settingFields,
  questions: Questions,
  afterMinutes: AfterMinutes,
  host: Text(320, {
    description: 'The host of the URL; of mail, the address; of slack_app, name and team.',
  }),
  failure: Nullable(
    Text(500, { description: 'Why the last message was not delivered. Null: it was.' }),
  ),
  stoppedAt: Nullable(
    Timestamp('Since when nothing is sent, because the receiver said that it is gone.'),
  ),
  createdAt: Timestamp(),
});
export type NotificationChannel = Static<typeof NotificationChannel>;

const outcomeFields = {
  state: OneOf(notificationStates, {
    description:
      'settled: it was answered before it could be sent. skipped: the person was absent, and the ' +
      'next one was told. seen: a page of the person showed the decision.',
  }),
  attempts: Integer(0, 1_000),
  failure: Nullable(Text(500, { description: 'Why it was not delivered, waits, or was skipped.' })),
  createdAt: Timestamp(),
  dueAt: Nullable(Timestamp('When it is sent next, unless it is answered. Null: never again.')),
  endedAt: Nullable(Timestamp('When it was sent, given up, or settled.')),
};

/** The message to one person about an event, by one channel. */
export const Notification = Type.Object({
  personName: Nullable(Text(200)),
  channelName: Nullable(Text(100, { description: 'Null: the channel was removed.' })),
  kind: Nullable(OneOf(channelKinds)),
  ...outcomeFields,
});
export type Notification = Static<typeof Notification>;

/** A message to the person by one of their channels. */
export const ChannelMessage = Type.Object({
  notificationId: Id('notification'),
  event: OneOf(notificationEvents),
  subjectId: Text(64, { description: 'The uncertainty or the job.' }),
  title: Text(200),
  text: Text(2_000, { description: 'As the channel shows it now.' }),
  ...outcomeFields,
});
export type ChannelMessage = Static<typeof ChannelMessage>;

const TimeOfDay = Text(5, { pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' });
/** The hours in which a person is told only what cannot wait. The same in all workspaces. */
export const QuietHours = Type.Object({
  from: TimeOfDay,
  until: TimeOfDay,
  timeZone: Text(64, { minLength: 1, description: 'An IANA name, such as Europe/Berlin.' }),
});
export type QuietHours = Static<typeof QuietHours>;

const AbsentUntil = Nullable(
  Timestamp('Until when the person is out of office. Null: they are not.'),
);

const DigestHours = Integer(
  0,
  DIGEST_HOURS_MAX,
  'Hours between messages about questions of low risk; 0: each is told immediately.',
);

const exampleQuietHours: QuietHours = { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' };
const exampleSettings = {
  kind: 'ntfy',
  name: 'Phone',
  events: ['decision', 'job_ended'],
  showsText: true,
} satisfies Partial<NotificationChannel>;
const exampleChannel: NotificationChannel = {
  channelId: 'chn_1j78s1og0003qjivc1q2',
  ...exampleSettings,
  questions: 'all',
  afterMinutes: 0,
  host: 'ntfy.acme.dev',
  failure: null,
  stoppedAt: null,
  createdAt: '2026-11-02T09:00:00.000Z',
};
const exampleMessage: ChannelMessage = {
  notificationId: 'ntf_1j78s1og0003qjivc1q2',
  event: 'decision',
  subjectId: exampleUncertaintyId,
  title: 'A job asks you',
  text: '“Add a health check”: “Which port?”',
  state: 'sent',
  attempts: 1,
  failure: null,
  createdAt: '2026-11-02T09:00:00.000Z',
  dueAt: null,
  endedAt: '2026-11-02T09:00:00.400Z',
};
const attemptFields = { delivered: Type.Boolean(), failure: Nullable(Text(500)) };
const delivered = { ok: true, delivered: true, failure: null } as const;
const examplePushKey =
  'BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs';
const ref = { workspaceId: exampleIds.workspace, channelId: exampleChannel.channelId };

export const notificationChannels = {
  list: defineConsoleEndpoint({
    name: 'consoleNotificationChannelList',
    path: '/console-api/v1/notification-channels/list',
    repeat: 'safe',
    summary: "List the person's own channels in a workspace",
    description: 'Ordered by name, without secrets.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({
      channels: List(NotificationChannel, CHANNELS_MAX),
      kinds: List(
        OneOf(channelKinds),
        channelKinds.length,
        'The kinds that the hub can send by: mail if its operator has set a mail server, slack_app ' +
          'if they have set an app of Slack.',
      ),
      quietHours: Nullable(QuietHours),
      absentUntil: AbsentUntil,
      digestHours: DigestHours,
      pushKey: Text(87, {
        description:
          'The public key with which a browser subscribes (RFC 8292), the same on all hubs.',
      }),
    }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        channels: [exampleChannel],
        kinds: ['ntfy', 'webhook', 'push', 'slack'],
        quietHours: exampleQuietHours,
        absentUntil: null,
        digestHours: 0,
        pushKey: examplePushKey,
      },
    },
  }),
  put: defineConsoleEndpoint({
    name: 'consoleNotificationChannelPut',
    path: '/console-api/v1/notification-channels/put',
    repeat: 'once',
    summary: "Add a channel of the person's own, or replace one",
    description:
      'Without channelId, adds a channel; for a browser that has one already, replaces it. The ' +
      'URL of an ntfy topic, of the receiver of a webhook, of the incoming webhook of a chat, or ' +
      'the endpoint of a push subscription; mail has none. The secret is the access token of an ' +
      'ntfy topic. URL, secret and keys are sealed at rest and never returned; absent, they stay ' +
      'as they are. A new webhook gets a signing secret, which only this answer has. A channel of ' +
      'the kind slack_app is added in Slack, with a code (connect-slack), and changed here.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      channelId: Type.Optional(Id('notificationChannel')),
      ...settingFields,
      questions: Defaulted(Questions, 'all'),
      afterMinutes: Defaulted(AfterMinutes, 0),
      url: Type.Optional(Text(2_000, { minLength: 8, pattern: '^https?://' })),
      secret: Type.Optional(Text(1_000, { minLength: 1 })),
      keys: Type.Optional(
        Type.Object(
          { p256dh: Text(100, { minLength: 1 }), auth: Text(100, { minLength: 1 }) },
          { description: 'Of a push subscription, with its endpoint, in base64url (RFC 8291).' },
        ),
      ),
    }),
    response: Ok({
      channel: NotificationChannel,
      signingSecret: Nullable(Text(200, { description: 'whsec_ and base64.' })),
    }),
    errors: ['CHANNEL_NOT_FOUND', 'LIMIT_REACHED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        ...exampleSettings,
        url: 'https://ntfy.acme.dev/ada-4711',
      },
      response: { ok: true, channel: exampleChannel, signingSecret: null },
    },
  }),
  connectSlack: defineConsoleEndpoint({
    name: 'consoleNotificationChannelConnectSlack',
    path: '/console-api/v1/notification-channels/connect-slack',
    repeat: 'safe',
    summary: 'Make a code that connects an account of Slack with the person',
    description:
      "Sent in Slack as /signalbox connect CODE, it adds a channel to that account's direct " +
      'messages. It works once, and replaces the one before.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({
      code: Text(9, { description: 'As XXXX-XXXX.' }),
      expiresAt: Timestamp('10 minutes later.'),
    }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, code: 'WDJB-MJHT', expiresAt: '2026-11-02T09:10:00.000Z' },
    },
  }),
  remove: defineConsoleEndpoint({
    name: 'consoleNotificationChannelRemove',
    path: '/console-api/v1/notification-channels/remove',
    repeat: 'once',
    summary: "Remove a channel of the person's own",
    description: 'What waits to be sent by it is given up.',
    request: Type.Object({ workspaceId: Id('workspace'), channelId: Id('notificationChannel') }),
    response: Ok({ removed: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['CHANNEL_NOT_FOUND'],
    example: { request: ref, response: { ok: true, removed: true } },
  }),
  test: defineConsoleEndpoint({
    name: 'consoleNotificationChannelTest',
    path: '/console-api/v1/notification-channels/test',
    repeat: 'once',
    summary: 'Send a message by a channel now, to see whether it arrives',
    description: 'One attempt. failure says why the receiver did not take it.',
    request: Type.Object({ workspaceId: Id('workspace'), channelId: Id('notificationChannel') }),
    response: Ok(attemptFields),
    errors: ['CHANNEL_NOT_FOUND'],
    example: { request: ref, response: delivered },
  }),
  messages: defineConsoleEndpoint({
    name: 'consoleNotificationChannelMessages',
    path: '/console-api/v1/notification-channels/messages',
    repeat: 'safe',
    summary: "List the last messages by a channel of the person's own, and how each went",
    description: 'The last first. Messages are kept for 30 days.',
    request: Type.Object({ workspaceId: Id('workspace'), channelId: Id('notificationChannel') }),
    response: Ok({ messages: List(ChannelMessage, CHANNEL_MESSAGES_MAX) }),
    errors: ['CHANNEL_NOT_FOUND'],
    example: { request: ref, response: { ok: true, messages: [exampleMessage] } },
  }),
  sendAgain: defineConsoleEndpoint({
    name: 'consoleNotificationChannelSendAgain',
    path: '/console-api/v1/notification-channels/send-again',
    repeat: 'once',
    summary: 'Send a message by a channel once more, with its id',
    description:
      'One attempt, now, of a message that was sent or has failed. failure says why the receiver ' +
      'did not take it, or why it is not sent: a question that was answered is not told again.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      channelId: Id('notificationChannel'),
      notificationId: Id('notification'),
    }),
    response: Ok(attemptFields),
    errors: ['CHANNEL_NOT_FOUND', 'NOTIFICATION_NOT_FOUND'],
    example: {
      request: { ...ref, notificationId: exampleMessage.notificationId },
      response: delivered,
    },
  }),
} as const;

export const notifications = {
  setQuietHours: defineConsoleEndpoint({
    name: 'consoleNotificationSetQuietHours',
    path: '/console-api/v1/notifications/set-quiet-hours',
    repeat: 'safe',
    summary: "Set a person's own quiet hours, or end them",
    description:
      'In these hours the person is told, by all channels and in all workspaces, only of ' +
      'approvals and of decisions whose deadline comes before the hours end. The rest is sent ' +
      'when they end, unless it is answered. Applies to what waits already, too.',
    request: Type.Object({ quietHours: Nullable(QuietHours) }),
    response: Ok({ quietHours: Nullable(QuietHours) }),
    example: {
      request: { quietHours: exampleQuietHours },
      response: { ok: true, quietHours: exampleQuietHours },
    },
  }),
  setAbsence: defineConsoleEndpoint({
    name: 'consoleNotificationSetAbsence',
    path: '/console-api/v1/notifications/set-absence',
    repeat: 'safe',
    summary: 'Set until when a person is out of office, or end it',
    description:
      'Until then the person is told of no question of a job, in all workspaces: the next person ' +
      'is told instead, also of what waits already. Members see it. It ends by itself; null ends ' +
      'it now.',
    request: Type.Object({ absentUntil: AbsentUntil }),
    response: Ok({ absentUntil: AbsentUntil }),
    example: {
      request: { absentUntil: '2026-11-16T08:00:00.000Z' },
      response: { ok: true, absentUntil: '2026-11-16T08:00:00.000Z' },
    },
  }),
  setDigest: defineConsoleEndpoint({
    name: 'consoleNotificationSetDigest',
    path: '/console-api/v1/notifications/set-digest',
    repeat: 'safe',
    summary: 'Set how often a person is told of questions of low risk',
    description:
      'In all workspaces, one message tells of those that are still open. Of low risk is a ' +
      'question whose asker gives the impact low, and that is no approval and no risk. One with a ' +
      'deadline before the next message is told immediately.',
    request: Type.Object({ hours: DigestHours }),
    response: Ok({ digestHours: DigestHours }),
    example: { request: { hours: 4 }, response: { ok: true, digestHours: 4 } },
  }),
  reportPage: defineConsoleEndpoint({
    name: 'consoleNotificationReportPage',
    path: '/console-api/v1/notifications/report-page',
    repeat: 'safe',
    summary: 'Say that a page of the console is visible, and which decision it shows',
    description:
      'Messages about this decision that wait for the person are not sent by channels that only ' +
      'the person reads: push, ntfy, mail and slack_app. While a page is visible, such messages wait a ' +
      'second for its report, and the stream of changes tells the page. A page that does not ' +
      'report for 45 s counts as hidden.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      pageId: Text(64, { minLength: 1, description: 'Random, one for each page.' }),
      isVisible: Type.Boolean(),
      uncertaintyId: Type.Optional(Id('uncertainty')),
    }),
    response: Ok({ seen: Type.Boolean({ description: 'Whether a message waited.' }) }),
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        pageId: '5b1b0a4f6c1f1d8f',
        isVisible: true,
        uncertaintyId: exampleUncertaintyId,
      },
      response: { ok: true, seen: true },
    },
  }),
  list: defineConsoleEndpoint({
    name: 'consoleNotificationList',
    path: '/console-api/v1/notifications/list',
    repeat: 'safe',
    summary: 'List who was told of a decision, and how that went',
    description:
      'In the order of their turns, for every member. An empty list: no member has a channel for it.',
    request: Type.Object({ workspaceId: Id('workspace'), uncertaintyId: Id('uncertainty') }),
    response: Ok({ notifications: List(Notification, NOTIFICATIONS_LISTED_MAX) }),
    errors: ['UNCERTAINTY_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, uncertaintyId: exampleUncertaintyId },
      response: {
        ok: true,
        notifications: [
          {
            personName: 'Ada Lovelace',
            channelName: 'Phone',
            kind: 'ntfy',
            state: 'sent',
            attempts: 1,
            failure: null,
            createdAt: '2026-11-02T09:00:00.000Z',
            dueAt: null,
            endedAt: '2026-11-02T09:00:00.400Z',
          },
        ],
      },
    },
  }),
} as const;
