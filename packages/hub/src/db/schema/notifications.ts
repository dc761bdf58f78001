import type {
  channelKinds,
  channelQuestions,
  notificationEvents,
  notificationStates,
} from '@signalbox/contract';
import { type Flag, of, type RowOf, table } from './table.ts';

const notification_channels = table('workspace_id, channel_id', {
  workspace_id: 'TEXT NOT NULL',
  channel_id: 'TEXT NOT NULL',
  /** Whose channel it is. */
  person_id: 'TEXT NOT NULL',
  kind: of<(typeof channelKinds)[number]>('TEXT NOT NULL'),
  name: 'TEXT NOT NULL',
  /** The host of the URL, which people see; of mail, the address; of Slack, name and team. */
  host: 'TEXT NOT NULL',
  /** JSON: url, and secret or keys, encrypted with the hub's key; null: the kind has neither. */
  sealed_target: 'TEXT',
  /** Team and user of Slack, who is one person in a workspace; null: another kind. */
  slack_user: 'TEXT',
  /** JSON: the events that the person wants to hear of by it. */
  events: 'TEXT NOT NULL',
  /** The questions among them. */
  questions: of<(typeof channelQuestions)[number]>('TEXT NOT NULL'),
  /** Minutes after the turn of the person in which a question comes by it, if it is open. */
  after_minutes: 'INTEGER NOT NULL',
  shows_text: of<Flag>('INTEGER NOT NULL'),
  /** Why the last message was not delivered; null: it was. */
  failure: 'TEXT',
  /** Since when nothing is sent, because the receiver is gone. */
  stopped_at: 'BIGINT',
  created_at: 'BIGINT NOT NULL',
});
export type NotificationChannelsTable = RowOf<typeof notification_channels>;

/** The outbox: one row for an event, a person and a channel. */
const notifications = table('workspace_id, notification_id', {
  workspace_id: 'TEXT NOT NULL',
  notification_id: 'TEXT NOT NULL',
  event: of<(typeof notificationEvents)[number]>('TEXT NOT NULL'),
  /** The uncertainty or the job. */
  subject_id: 'TEXT NOT NULL',
  person_id: 'TEXT NOT NULL',
  channel_id: 'TEXT NOT NULL',
  /** JSON: `NotificationContent`. */
  content: 'TEXT NOT NULL',
  state: of<(typeof notificationStates)[number]>('TEXT NOT NULL'),
  attempts: 'INTEGER NOT NULL',
  /** When it is the turn of the person; turns at the same time are one. */
  turn_at: 'BIGINT NOT NULL',
  /** When it is sent or edited next; null: never again. */
  due_at: 'BIGINT',
  /** Why it waits, or waited last, beyond its turn; null: it never did. */
  held_by: of<'quiet-hours' | 'digest' | 'page' | null>('TEXT'),
  failure: 'TEXT',
  /** By which it is edited: conversation and timestamp of Slack, or the tag of a push; or null. */
  receipt: 'TEXT',
  /** Since when the message is to be edited, because its question has changed; null: it is not. */
  edit_at: 'BIGINT',
  created_at: 'BIGINT NOT NULL',
  ended_at: 'BIGINT',
});
export type NotificationsTable = RowOf<typeof notifications>;

/** A page of the console that is visible, unless it has not reported for a while. */
const visible_pages = table('workspace_id, person_id, page_id', {
  workspace_id: 'TEXT NOT NULL',
  person_id: 'TEXT NOT NULL',
  /** The name that the page gives itself. */
  page_id: 'TEXT NOT NULL',
  until_at: 'BIGINT NOT NULL',
});
export type VisiblePagesTable = RowOf<typeof visible_pages>;

/** A code with which a person connects their account of Slack. */
const slack_codes = table('workspace_id, person_id', {
  workspace_id: 'TEXT NOT NULL',
  person_id: 'TEXT NOT NULL',
  /** Made with the hub's key. */
  code_hash: 'TEXT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
});
export type SlackCodesTable = RowOf<typeof slack_codes>;

export const notificationTables = {
  notification_channels,
  notifications,
  visible_pages,
  slack_codes,
};

export const notificationIndexes = [
  'CREATE UNIQUE INDEX slack_codes_by_hash ON slack_codes (code_hash)',
  // An account of Slack is one person in each workspace.
  `CREATE UNIQUE INDEX notification_channels_by_slack_user ON notification_channels
    (slack_user, workspace_id) WHERE slack_user IS NOT NULL`,
  // An event is told once by each channel.
  `CREATE UNIQUE INDEX notifications_once ON notifications
    (workspace_id, subject_id, event, channel_id)`,
  'CREATE INDEX notifications_due ON notifications (due_at) WHERE due_at IS NOT NULL',
  'CREATE INDEX notifications_of_channel ON notifications (channel_id, created_at)',
  'CREATE INDEX notifications_by_age ON notifications (created_at)',
];
