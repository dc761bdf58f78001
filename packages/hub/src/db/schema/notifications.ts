import type {
  channelKinds,
  channelQuestions,
  notificationEvents,
  notificationStates,
} from '@signalbox/contract';

/** The tables of notifications; `tables.ts` has the conventions. */

export interface NotificationChannelsTable {
  workspace_id: string;
  channel_id: string;
  /** Whose channel it is. */
  person_id: string;
  kind: (typeof channelKinds)[number];
  name: string;
  /** The host of the URL, which people see; of mail, the address; of Slack, name and team. */
  host: string;
  /** JSON: url, and secret or keys, encrypted with the hub's key; null: the kind has neither. */
  sealed_target: string | null;
  /** Team and user of Slack, who is one person in a workspace; null: another kind. */
  slack_user: string | null;
  /** JSON: the events that the person wants to hear of by it. */
  events: string;
  /** The questions among them. */
  questions: (typeof channelQuestions)[number];
  /** Minutes after the turn of the person in which a question comes by it, if it is open. */
  after_minutes: number;
  shows_text: 0 | 1;
  /** Why the last message was not delivered; null: it was. */
  failure: string | null;
  /** Since when nothing is sent, because the receiver is gone. */
  stopped_at: number | null;
  created_at: number;
}

/** The outbox: one row for an event, a person and a channel. */
export interface NotificationsTable {
  workspace_id: string;
  notification_id: string;
  event: (typeof notificationEvents)[number];
  /** The uncertainty or the job. */
  subject_id: string;
  person_id: string;
  channel_id: string;
  /** JSON: `NotificationContent`. */
  content: string;
  state: (typeof notificationStates)[number];
  attempts: number;
  /** When it is the turn of the person; turns at the same time are one. */
  turn_at: number;
  /** When it is sent or edited next; null: never again. */
  due_at: number | null;
  /** Why it waits, or waited last, beyond its turn; null: it never did. */
  held_by: 'quiet-hours' | 'digest' | 'page' | null;
  failure: string | null;
  /** By which it is edited: conversation and timestamp of Slack, or the tag of a push; or null. */
  receipt: string | null;
  /** Since when the message is to be edited, because its question has changed; null: it is not. */
  edit_at: number | null;
  created_at: number;
  ended_at: number | null;
}

/** A page of the console that is visible, unless it has not reported for a while. */
export interface VisiblePagesTable {
  workspace_id: string;
  person_id: string;
  /** The name that the page gives itself. */
  page_id: string;
  until_at: number;
}

/** A code with which a person connects their account of Slack. */
export interface SlackCodesTable {
  workspace_id: string;
  person_id: string;
  /** Made with the hub's key. */
  code_hash: string;
  expires_at: number;
}

export interface NotificationTables {
  slack_codes: SlackCodesTable;
  visible_pages: VisiblePagesTable;
  notification_channels: NotificationChannelsTable;
  notifications: NotificationsTable;
}
