import type { ChannelMessage } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readUncertainty } from '../uncertainties/store.ts';
import { requireOwn } from './channels.ts';
import { type NotificationContent, sentencesOf } from './content.ts';
import { recordAtChannel } from './record-at-channel.ts';
import type { NotificationSender } from './sender.ts';
import {
  type ChannelRow,
  listOfChannel,
  type NotificationRow,
  putEdits,
  readOfChannel,
  recordRepetition,
} from './store.ts';

interface ChannelRef {
  workspaceId: string;
  channelId: string;
}

/**
 * The last messages by a channel of the person's own.
 * @throws HubError CHANNEL_NOT_FOUND
 */
export async function listOwnMessages(
  { database: { reader } }: HubDeps,
  principal: Principal,
  ref: ChannelRef,
): Promise<ChannelMessage[]> {
  const channel = await requireOwnChannel(reader, principal, ref);
  const rows = await listOfChannel(reader, channel);
  return rows.map((row) => presentMessage(row, channel));
}

/**
 * Sends a message once more, with its id, by which the receiver knows it again.
 *
 * @returns why it was not delivered; null: it was.
 * @throws HubError CHANNEL_NOT_FOUND, NOTIFICATION_NOT_FOUND
 */
export async function sendOwnAgain(
  deps: HubDeps & { notifications: NotificationSender },
  principal: Principal,
  { notificationId, ...ref }: ChannelRef & { notificationId: string },
): Promise<string | null> {
  const { reader } = deps.database;
  const channel = await requireOwnChannel(reader, principal, ref);
  const row = await readOfChannel(reader, channel, notificationId);
  if (row === undefined) throw new HubError('NOTIFICATION_NOT_FOUND');
  const refusal = await findRefusal(reader, row, channel);
  if (refusal !== null) return refusal;
  const delivery = await deps.notifications.deliverNow(row, channel);
  await deps.database.write(ref.workspaceId, async (tx) => {
    const sent = delivery.kind === 'delivered' ? { receipt: delivery.receipt ?? null } : null;
    await recordRepetition(tx, row, sent);
    await recordAtChannel(tx, channel, delivery);
    // It was answered while the message was on its way.
    if (sent?.receipt && !(await isOpen(tx, row))) await putEdits(tx, row);
  });
  return delivery.kind === 'delivered' ? null : delivery.failure;
}

async function requireOwnChannel(
  reader: Reader,
  principal: Principal,
  ref: ChannelRef,
): Promise<ChannelRow> {
  const act = 'notification.manage-own';
  const { personId } = await requireAct(reader, principal, ref.workspaceId, act);
  return await requireOwn(reader, personId, ref);
}

async function findRefusal(
  reader: Reader,
  row: NotificationRow,
  { kind }: ChannelRow,
): Promise<string | null> {
  const { event, state } = row;
  if (state === 'waiting') return 'It is still to be sent: look again in a moment.';
  if (state !== 'sent' && state !== 'failed') return 'It was not needed, so it was never sent.';
  if (event !== 'decision') return null;
  // A second copy would keep its buttons when the first is edited.
  if (kind === 'slack_app' && row.receipt !== null) {
    return 'It is in Slack, and says there how its question stands.';
  }
  return (await isOpen(reader, row)) ? null : 'Its question is not open any more.';
}

async function isOpen(
  reader: Reader,
  { workspace_id, subject_id }: NotificationRow,
): Promise<boolean> {
  return (await readUncertainty(reader, workspace_id, subject_id))?.status === 'open';
}

function presentMessage(row: NotificationRow, { shows_text }: ChannelRow): ChannelMessage {
  // Written by `raise.ts`.
  const content = JSON.parse(row.content) as NotificationContent;
  const { title, text } = sentencesOf(content, shows_text === 1);
  return {
    notificationId: row.notification_id,
    event: row.event,
    subjectId: row.subject_id,
    title,
    text,
    state: row.state,
    attempts: row.attempts,
    failure: row.failure,
    createdAt: timestampOf(row.created_at),
    dueAt: nullableTimestampOf(row.due_at),
    endedAt: nullableTimestampOf(row.ended_at),
  };
}
