import { CHANNEL_MESSAGES_MAX, NOTIFICATIONS_LISTED_MAX } from '@signalbox/contract';
import type { KeptRead, Reader, Tx } from '../db/engine.ts';
import { allKept } from '../db/kept-reads.ts';
import { deleteRows, insertNewRow, sql, updateRows, upsertRow } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type {
  NotificationChannelsTable,
  NotificationsTable,
  SlackCodesTable,
  VisiblePagesTable,
} from '../db/schema/notifications.ts';

export type ChannelRow = NotificationChannelsTable;
export type NotificationRow = NotificationsTable;

const channelsOfWorkspace: KeptRead = {
  sql: `SELECT ${allColumns.notification_channels} FROM notification_channels
    WHERE workspace_id = ? ORDER BY channel_id`,
  sources: ['notification_channels'],
};

/** All channels of a workspace. Every completion of a job asks for them. */
export function listChannels(reader: Reader, workspaceId: string): Promise<readonly ChannelRow[]> {
  return allKept<ChannelRow>(reader, channelsOfWorkspace, [workspaceId]);
}

export function readChannel(
  reader: Reader,
  workspaceId: string,
  channelId: string,
): Promise<ChannelRow | undefined> {
  return reader.firstSql<ChannelRow>(
    `SELECT ${allColumns.notification_channels} FROM notification_channels
     WHERE workspace_id = ? AND channel_id = ?`,
    [workspaceId, channelId],
  );
}

export async function putChannel(tx: Tx, row: ChannelRow): Promise<void> {
  await upsertRow(tx, 'notification_channels', row, ['workspace_id', 'channel_id']);
}

export async function updateChannelState(
  tx: Tx,
  { workspace_id, channel_id }: Pick<ChannelRow, 'workspace_id' | 'channel_id'>,
  set: Pick<ChannelRow, 'failure' | 'stopped_at'>,
): Promise<void> {
  await updateRows(tx, 'notification_channels', { workspace_id, channel_id }, set);
}

export async function deleteChannel(
  tx: Tx,
  { workspace_id, channel_id }: Pick<ChannelRow, 'workspace_id' | 'channel_id'>,
): Promise<void> {
  await deleteRows(tx, 'notification_channels', { workspace_id, channel_id });
}

/** Adds a notification, unless the channel tells of the event already. */
export async function addNotification(tx: Tx, row: NotificationRow): Promise<void> {
  const once = ['workspace_id', 'subject_id', 'event', 'channel_id'] as const;
  await insertNewRow(tx, 'notifications', row, once);
}

/**
 * The notifications that are to be sent or edited by now, those that wait longest first.
 *
 * @param busy channels and workspaces whose notifications are left out.
 */
export function listDue(
  reader: Reader,
  nowMs: number,
  busy: { channelIds: readonly string[]; workspaceIds: readonly string[] },
  limit: number,
): Promise<NotificationRow[]> {
  return reader.allSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications WHERE due_at <= ?
       AND channel_id NOT IN (SELECT value FROM json_each(?))
       AND workspace_id NOT IN (SELECT value FROM json_each(?))
     ORDER BY due_at, notification_id LIMIT ?`,
    [nowMs, JSON.stringify(busy.channelIds), JSON.stringify(busy.workspaceIds), limit],
  );
}

/** A notification of a person, in one of some workspaces. */
export function findNotification(
  reader: Reader,
  of: { workspaceIds: readonly string[]; personId: string; notificationId: string },
): Promise<NotificationRow | undefined> {
  return reader.firstSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications
     WHERE workspace_id IN (SELECT value FROM json_each(?)) AND notification_id = ?
       AND person_id = ?`,
    [JSON.stringify(of.workspaceIds), of.notificationId, of.personId],
  );
}

/** The notifications of an event, in the order of their turns. */
export function listOfSubject(
  reader: Reader,
  workspaceId: string,
  subjectId: string,
): Promise<NotificationRow[]> {
  return reader.allSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications
     WHERE workspace_id = ? AND subject_id = ? ORDER BY turn_at, notification_id LIMIT ?`,
    [workspaceId, subjectId, NOTIFICATIONS_LISTED_MAX],
  );
}

/** The last notifications by a channel, the last first. */
export function listOfChannel(
  reader: Reader,
  { workspace_id, channel_id }: Pick<ChannelRow, 'workspace_id' | 'channel_id'>,
): Promise<NotificationRow[]> {
  return reader.allSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications
     WHERE workspace_id = ? AND channel_id = ?
     ORDER BY created_at DESC, notification_id DESC LIMIT ?`,
    [workspace_id, channel_id, CHANNEL_MESSAGES_MAX],
  );
}

/** A notification by a channel. */
export function readOfChannel(
  reader: Reader,
  { workspace_id, channel_id }: Pick<ChannelRow, 'workspace_id' | 'channel_id'>,
  notificationId: string,
): Promise<NotificationRow | undefined> {
  return reader.firstSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications
     WHERE workspace_id = ? AND notification_id = ? AND channel_id = ?`,
    [workspace_id, notificationId, channel_id],
  );
}

/** All notifications of a decision. */
export function listOfDecision(
  reader: Reader,
  workspaceId: string,
  subjectId: string,
): Promise<NotificationRow[]> {
  return reader.allSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications
     WHERE workspace_id = ? AND subject_id = ? AND event = 'decision'
     ORDER BY turn_at, notification_id`,
    [workspaceId, subjectId],
  );
}

/** The decisions of which a person was told, or is to be told, and somebody else waits to be. */
export async function listWaitingWithPerson(
  reader: Reader,
  workspaceId: string,
  personId: string,
): Promise<string[]> {
  const rows = await reader.allSql<{ subject_id: string }>(
    `SELECT DISTINCT w.subject_id FROM notifications w
     JOIN notifications own ON own.workspace_id = w.workspace_id
       AND own.subject_id = w.subject_id AND own.event = w.event AND own.person_id = ?
     WHERE w.due_at IS NOT NULL AND w.state = 'waiting' AND w.workspace_id = ?
       AND w.event = 'decision'`,
    [personId, workspaceId],
  );
  return rows.map(({ subject_id }) => subject_id);
}

/**
 * Takes a notification for one attempt; until `untilMs` no other hub sends it.
 *
 * @returns false when another hub has taken it, or it was settled.
 */
export async function takeNotification(
  tx: Tx,
  { workspace_id, notification_id, attempts, content }: NotificationRow,
  untilMs: number,
): Promise<boolean> {
  const where = { workspace_id, notification_id, attempts, state: 'waiting' as const };
  const set = { attempts: attempts + 1, due_at: untilMs, content };
  return (await updateRows(tx, 'notifications', where, set)) > 0;
}

/** The notifications of an event that are due by a channel, those that wait longest first. */
export function listDueOfChannel(
  reader: Reader,
  { workspace_id, channel_id, event }: NotificationRow,
  nowMs: number,
  limit: number,
): Promise<NotificationRow[]> {
  return reader.allSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications
     WHERE workspace_id = ? AND channel_id = ? AND event = ? AND due_at <= ?
     ORDER BY due_at, notification_id LIMIT ?`,
    [workspace_id, channel_id, event, nowMs, limit],
  );
}

/** Lets a notification wait, without an attempt, unless it was taken or settled. */
export async function holdNotification(
  tx: Tx,
  { workspace_id, notification_id, attempts }: NotificationRow,
  set: Partial<Pick<NotificationRow, 'due_at' | 'failure' | 'held_by'>>,
): Promise<void> {
  const where = { workspace_id, notification_id, attempts, state: 'waiting' as const };
  await updateRows(tx, 'notifications', where, set);
}

/** Makes the notifications of a person due that wait for a reason, in all workspaces. */
export async function releaseHeld(
  tx: Tx,
  personId: string,
  heldBy: NotificationRow['held_by'],
): Promise<void> {
  const later = sql('due_at > ?', tx.nowMs);
  const where = { person_id: personId, held_by: heldBy, attempts: 0, also: later };
  await updateRows(tx, 'notifications', where, { due_at: tx.nowMs });
}

/** The decisions that a channel tells of later, those that wait longest first. */
export function listHeldOfChannel(
  reader: Reader,
  { workspace_id, channel_id }: Pick<NotificationRow, 'workspace_id' | 'channel_id'>,
  limit: number,
): Promise<NotificationRow[]> {
  return reader.allSql<NotificationRow>(
    `SELECT ${allColumns.notifications} FROM notifications
     WHERE workspace_id = ? AND channel_id = ? AND event = 'decision' AND due_at IS NOT NULL
       AND held_by IS NOT NULL AND attempts = 0
     ORDER BY turn_at, notification_id LIMIT ?`,
    [workspace_id, channel_id, limit],
  );
}

/**
 * Records how an attempt went. A notification that was settled meanwhile stays so; what was sent of
 * it is edited.
 */
export async function recordAttempt(
  tx: Tx,
  { workspace_id, notification_id }: NotificationRow,
  set: Pick<NotificationRow, 'state' | 'due_at' | 'failure' | 'receipt' | 'ended_at'>,
): Promise<void> {
  const row = { workspace_id, notification_id };
  const isOpen = await updateRows(tx, 'notifications', { ...row, state: 'waiting' }, set);
  if (isOpen > 0 || set.receipt === null) return;
  const edit = { receipt: set.receipt, edit_at: tx.nowMs, due_at: tx.nowMs };
  await updateRows(tx, 'notifications', row, edit);
}

/** Makes the messages about a decision that were sent due for an edit, where that is possible. */
export async function putEdits(
  tx: Tx,
  { workspace_id, subject_id }: Pick<NotificationRow, 'workspace_id' | 'subject_id'>,
): Promise<void> {
  const sent = sql('receipt IS NOT NULL');
  const where = { workspace_id, subject_id, event: 'decision' as const, also: sent };
  await updateRows(tx, 'notifications', where, { edit_at: tx.nowMs, due_at: tx.nowMs });
}

/**
 * Takes an edit for one attempt; until `untilMs` no other hub makes it.
 *
 * @returns false when another hub has taken it.
 */
export async function takeEdit(
  tx: Tx,
  { workspace_id, notification_id, edit_at, due_at }: NotificationRow,
  untilMs: number,
): Promise<boolean> {
  const where = { workspace_id, notification_id, edit_at, due_at };
  return (await updateRows(tx, 'notifications', where, { due_at: untilMs })) > 0;
}

/** Records how an edit went, unless the question has changed again meanwhile. */
export async function recordEdit(
  tx: Tx,
  { workspace_id, notification_id, edit_at }: NotificationRow,
  set: Partial<Pick<NotificationRow, 'edit_at' | 'due_at'>>,
): Promise<void> {
  await updateRows(tx, 'notifications', { workspace_id, notification_id, edit_at }, set);
}

/**
 * Counts one attempt more at a notification that was sent or given up.
 *
 * @param sent null: it failed.
 */
export async function recordRepetition(
  tx: Tx,
  { workspace_id, notification_id, attempts, state }: NotificationRow,
  sent: Pick<NotificationRow, 'receipt'> | null,
): Promise<void> {
  const where = { workspace_id, notification_id, attempts, state };
  const end = { state: 'sent' as const, failure: null, ended_at: tx.nowMs };
  const set = { attempts: attempts + 1, ...(sent !== null && { ...end, ...sent }) };
  await updateRows(tx, 'notifications', where, set);
}

/** Ends the notifications that are still to be sent, of an event or by a channel. */
export async function endWaiting(
  tx: Tx,
  where:
    | Pick<NotificationRow, 'workspace_id' | 'subject_id'>
    | Pick<NotificationRow, 'workspace_id' | 'channel_id'>
    | Pick<NotificationRow, 'workspace_id' | 'notification_id'>,
  end: Pick<NotificationRow, 'state' | 'failure'>,
): Promise<void> {
  const waiting = { ...where, state: 'waiting' as const };
  await updateRows(tx, 'notifications', waiting, { ...end, due_at: null, ended_at: tx.nowMs });
}

/** Deletes notifications that were made before a time. @returns how many. */
export function deleteOldNotifications(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  return deleteRows(tx, 'notifications', {
    also: sql(
      `notification_id IN (SELECT notification_id FROM notifications
        WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
      ...[beforeMs, limit],
    ),
  });
}

/** Ends what is due about a decision, because a page shows it. @returns how many there were. */
export function endSeen(
  tx: Tx,
  about: { workspaceId: string; subjectId: string; channelIds: readonly string[] },
): Promise<number> {
  const { workspaceId: workspace_id, subjectId: subject_id, channelIds: channel_id } = about;
  const due = { event: 'decision' as const, state: 'waiting' as const, attempts: 0 };
  // A channel that comes some minutes after the turn is not due yet, and not held either.
  const isDue = '(due_at <= ? OR held_by IS NOT NULL)';
  const also = sql(`turn_at <= ? AND ${isDue}`, tx.nowMs, tx.nowMs);
  const where = { workspace_id, subject_id, channel_id, ...due, also };
  const end = { state: 'seen' as const, due_at: null, failure: null, ended_at: tx.nowMs };
  return updateRows(tx, 'notifications', where, end);
}

/** Until when a page counts as visible; null: it never was, or is not any more. */
export async function readVisibleUntil(
  reader: Reader,
  { workspace_id, person_id, page_id }: Omit<VisiblePagesTable, 'until_at'>,
): Promise<number | null> {
  const row = await reader.firstSql<Pick<VisiblePagesTable, 'until_at'>>(
    'SELECT until_at FROM visible_pages WHERE workspace_id = ? AND person_id = ? AND page_id = ?',
    [workspace_id, person_id, page_id],
  );
  return row?.until_at ?? null;
}

/** Whether a page of the person in the workspace is visible. */
export async function hasVisiblePage(
  reader: Reader,
  { workspace_id, person_id }: Pick<NotificationRow, 'workspace_id' | 'person_id'>,
  nowMs: number,
): Promise<boolean> {
  const row = await reader.firstSql(
    'SELECT 1 FROM visible_pages WHERE workspace_id = ? AND person_id = ? AND until_at > ?',
    [workspace_id, person_id, nowMs],
  );
  return row !== undefined;
}

/** Deletes the pages that have not reported for a while. */
export async function deleteHiddenPages(tx: Tx): Promise<void> {
  await deleteRows(tx, 'visible_pages', { also: sql('until_at <= ?', tx.nowMs) });
}

/** The channels of an account of Slack, one in each workspace that it is connected to. */
export function listChannelsOfSlackUser(reader: Reader, slackUser: string): Promise<ChannelRow[]> {
  return reader.allSql<ChannelRow>(
    `SELECT ${allColumns.notification_channels} FROM notification_channels
     WHERE slack_user = ? ORDER BY workspace_id`,
    [slackUser],
  );
}

export async function putSlackCode(tx: Tx, row: SlackCodesTable): Promise<void> {
  await upsertRow(tx, 'slack_codes', row, ['workspace_id', 'person_id']);
}

export function readSlackCode(
  reader: Reader,
  codeHash: string,
  nowMs: number,
): Promise<SlackCodesTable | undefined> {
  return reader.firstSql<SlackCodesTable>(
    `SELECT workspace_id, person_id, code_hash, expires_at FROM slack_codes
     WHERE code_hash = ? AND expires_at > ?`,
    [codeHash, nowMs],
  );
}

/** @returns false when it was used meanwhile. */
export async function deleteSlackCode(
  tx: Tx,
  { workspace_id, person_id, code_hash }: SlackCodesTable,
): Promise<boolean> {
  return (await deleteRows(tx, 'slack_codes', { workspace_id, person_id, code_hash })) > 0;
}

export async function deleteOldSlackCodes(tx: Tx): Promise<void> {
  await deleteRows(tx, 'slack_codes', { also: sql('expires_at <= ?', tx.nowMs) });
}
