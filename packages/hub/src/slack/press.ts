import type { UncertaintyOption } from '@signalbox/contract';
import {
  answerFromMessage,
  type MessageAnswer,
  type MessageOutcome,
} from '../notifications/answer-from-message.ts';
import type { NotificationContent } from '../notifications/content.ts';
import { quote } from '../notifications/content.ts';
import { receiptOf } from '../notifications/send-slack.ts';
import {
  escapeSlack,
  plain,
  readSlackValue,
  slackActions,
} from '../notifications/slack-message.ts';
import {
  type ChannelRow,
  listChannelsOfSlackUser,
  listOfDecision,
} from '../notifications/store.ts';
import { readUncertainty } from '../uncertainties/store.ts';
import { slackUserOf } from './connect.ts';
import { questionUrl, type SlackDeps } from './deps.ts';
import { payloadKindOf, readPress, readReply, type SlackPress } from './payloads.ts';

export const NOT_CONNECTED =
  'Your account is not connected. At the console, open Settings, Notifications, press Connect ' +
  'Slack, and send me the code: /signalbox connect CODE';
const QUOTED_CHARS_MAX = 2_000;
/** The callback of the form for an answer in words. */
const REPLY_FORM = 'reply';

/**
 * Handles a press of a button, or a form that was sent.
 *
 * @returns what Slack shows in the form.
 * @throws HubError INVALID_REQUEST
 */
export async function handleInteraction(deps: SlackDeps, payload: unknown): Promise<object> {
  const kind = payloadKindOf(payload);
  if (kind === 'view_submission') return await takeReply(deps, payload);
  if (kind === 'block_actions') await takePress(deps, readPress(payload));
  return {};
}

async function takePress(deps: SlackDeps, press: SlackPress): Promise<void> {
  const [action] = press.actions;
  const value = readSlackValue(action?.value ?? '');
  // Such as the button that opens the console.
  if (action === undefined || value === null) return;
  const channel = await findChannel(deps, press, value.workspaceId);
  if (channel === undefined) return await tell(deps, press, NOT_CONNECTED);
  const { workspaceId, uncertaintyId } = value;
  const { reader } = deps.database;
  if (action.action_id === slackActions.reply) {
    return await openForm(deps, press, channel, uncertaintyId);
  }
  const row = await readUncertainty(reader, workspaceId, uncertaintyId);
  const options: UncertaintyOption[] = row === undefined ? [] : JSON.parse(row.options);
  const option = options[value.at];
  if (option === undefined) return await tell(deps, press, 'This question was deleted.');
  const { channel_id, message_ts } = press.container;
  const outcome = await answerFromMessage(deps, {
    workspaceId,
    uncertaintyId,
    personId: channel.person_id,
    via: 'slack',
    value: option.value,
    idempotencyKey: `slack-${channel_id}-${message_ts}-${action.action_ts}`,
  });
  if (outcome.kind === 'answered' || outcome.kind === 'late') {
    await editCopy(deps, channel, uncertaintyId, receiptOf(channel_id, message_ts));
  } else await tell(deps, press, await explain(deps, outcome, { workspaceId, uncertaintyId }));
}

/** The connection of the one who presses with a workspace; undefined: none. */
async function findChannel(
  { database }: SlackDeps,
  { team, user }: Pick<SlackPress, 'team' | 'user'>,
  workspaceId: string,
): Promise<ChannelRow | undefined> {
  const slackUser = slackUserOf({ teamId: team.id, userId: user.id });
  const channels = await listChannelsOfSlackUser(database.reader, slackUser);
  return channels.find((channel) => channel.workspace_id === workspaceId);
}

/**
 * Edits a message that the outbox does not know of: a hub may have been killed after it had sent
 * it. The outbox edits the others.
 */
async function editCopy(
  { database, notifications }: SlackDeps,
  { workspace_id, channel_id }: ChannelRow,
  uncertaintyId: string,
  receipt: string,
): Promise<void> {
  const rows = await listOfDecision(database.reader, workspace_id, uncertaintyId);
  const row = rows.find((one) => one.channel_id === channel_id);
  if (row !== undefined && row.receipt !== receipt) await notifications.editMessage(row, receipt);
}

async function explain(
  deps: SlackDeps,
  outcome: Exclude<MessageOutcome, { kind: 'answered' }>,
  place: Pick<MessageAnswer, 'workspaceId' | 'uncertaintyId'>,
): Promise<string> {
  if (outcome.kind === 'refused') return outcome.text;
  if (outcome.kind === 'late') return `${outcome.deed} at ${new Date(outcome.atMs).toISOString()}.`;
  return `Only the console settles this question: ${await questionUrl(deps, place)}`;
}

/** Tells the one who presses alone. */
async function tell(
  { slack }: SlackDeps,
  { container, user }: SlackPress,
  text: string,
): Promise<void> {
  const client = await slack.client();
  const place = { channel: container.channel_id, user: user.id };
  await client.chat.postEphemeral({ ...place, text: escapeSlack(text) });
}

async function openForm(
  { slack, database }: SlackDeps,
  { trigger_id, actions }: SlackPress,
  channel: ChannelRow,
  uncertaintyId: string,
): Promise<void> {
  const rows = await listOfDecision(database.reader, channel.workspace_id, uncertaintyId);
  const row = rows.find((one) => one.channel_id === channel.channel_id);
  const { question = null } =
    row === undefined ? {} : (JSON.parse(row.content) as NotificationContent);
  const asked = quote(channel.shows_text === 1 ? (question ?? '') : '', QUOTED_CHARS_MAX);
  const client = await slack.client();
  await client.views.open({
    trigger_id,
    view: {
      type: 'modal',
      callback_id: REPLY_FORM,
      private_metadata: actions[0]?.value ?? '',
      title: plain('Answer'),
      submit: plain('Answer'),
      close: plain('Cancel'),
      blocks: [
        { type: 'section', text: plain(asked) },
        {
          type: 'input',
          block_id: 'answer',
          label: plain('Your answer'),
          element: { type: 'plain_text_input', action_id: 'text', multiline: true },
        },
      ],
    },
  });
}

async function takeReply(deps: SlackDeps, payload: unknown): Promise<object> {
  const { view, team, user } = readReply(payload);
  const refuse = (text: string) => ({ response_action: 'errors', errors: { answer: text } });
  const place = readSlackValue(view.private_metadata);
  if (place === null) return {};
  const channel = await findChannel(deps, { team, user }, place.workspaceId);
  if (channel === undefined) return refuse(NOT_CONNECTED);
  const { workspaceId, uncertaintyId } = place;
  const outcome = await answerFromMessage(deps, {
    workspaceId,
    uncertaintyId,
    personId: channel.person_id,
    via: 'slack',
    value: view.state.values.answer.text.value ?? '',
    idempotencyKey: `slack-${view.id}`,
  });
  if (outcome.kind === 'answered') return {};
  return refuse(await explain(deps, outcome, place));
}
