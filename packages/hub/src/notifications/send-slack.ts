import type { Reader } from '../db/engine.ts';
import { describeResolution } from '../uncertainties/already-resolved.ts';
import { isForConsole } from '../uncertainties/console-only.ts';
import { readUncertainty, type UncertaintyKey } from '../uncertainties/store.ts';
import { readResolution } from '../uncertainties/store-resolutions.ts';
import type { Message } from './content.ts';
import type { Delivery } from './deliver.ts';
import { judgeSlack, type SlackApi } from './slack-api.ts';
import {
  endedMessage,
  plainMessage,
  questionMessage,
  type SlackMessage,
  shownAnswer,
} from './slack-message.ts';

/** A message's conversation and timestamp, as a row of the outbox has them. */
export const receiptOf = (channel: string, ts: string) => `${channel} ${ts}`;

/** No link of a text becomes a preview. */
const asWritten = { unfurl_links: false, unfurl_media: false };

/** Makes one attempt to send a message to a user of Slack. It throws nothing. */
export async function sendSlack(
  slack: SlackApi,
  slackUser: string,
  { text, blocks }: SlackMessage,
): Promise<Delivery> {
  const [, user = ''] = slackUser.split(' ');
  try {
    const client = await slack.client();
    const sent = await client.chat.postMessage({ channel: user, text, blocks, ...asWritten });
    const { channel, ts } = sent;
    const receipt = channel === undefined || ts === undefined ? null : receiptOf(channel, ts);
    return { kind: 'delivered', receipt };
  } catch (error) {
    return judgeSlack(error);
  }
}

/** Makes one attempt to edit a message that was sent. It throws nothing. */
export async function editSlack(
  slack: SlackApi,
  receipt: string,
  { text, blocks }: SlackMessage,
): Promise<Delivery> {
  const [channel = '', ts = ''] = receipt.split(' ');
  try {
    const client = await slack.client();
    await client.chat.update({ channel, ts, text, blocks });
    return { kind: 'delivered' };
  } catch (error) {
    return judgeSlack(error);
  }
}

/**
 * The message about a question as it is now: with its choices, or how it has ended.
 *
 * @param showsText whether the person may read texts, and wants them in messages.
 */
export async function slackMessageOf(
  reader: Reader,
  draft: Pick<Message, 'title' | 'text' | 'url' | 'atMs'>,
  key: UncertaintyKey,
  showsText: boolean,
): Promise<SlackMessage> {
  const { workspace_id: workspaceId, uncertainty_id: uncertaintyId } = key;
  const row = await readUncertainty(reader, workspaceId, uncertaintyId);
  if (row === undefined) return endedMessage(draft, 'It was deleted', draft.atMs);
  const options = JSON.parse(row.options);
  const last = await readResolution(reader, workspaceId, uncertaintyId);
  if (row.status === 'resolved' && last !== undefined) {
    const value = showsText ? shownAnswer(last.value, options) : null;
    return endedMessage(draft, describeResolution(last, value), last.created_at);
  }
  if (!showsText || isForConsole({ kind: row.kind, actionKey: row.action_key })) {
    return plainMessage(draft);
  }
  const recommendedValue = row.recommended_value;
  return questionMessage(draft, { workspaceId, uncertaintyId, options, recommendedValue });
}
