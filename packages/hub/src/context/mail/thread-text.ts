import { timestampOf } from '../../base/clock.ts';
import { cutText } from '../data-policy.ts';
import type { LiveMessage } from './fetch-live-threads.ts';

/** The beginning of a longer thread is cut. */
const THREAD_CHARS_MAX = 100_000;
const SEPARATOR = '\n\n────────\n\n';

export interface ThreadText {
  text: string;
  truncated: boolean;
  /** The ids of the messages that the text includes. */
  messageIds: Set<string>;
}

/**
 * Renders a thread as text, oldest message first.
 *
 * @param older how many earlier messages were not fetched.
 */
export function renderThread(messages: readonly LiveMessage[], older: number): ThreadText {
  const parts: string[] = [];
  const messageIds = new Set<string>();
  let charsLeft = THREAD_CHARS_MAX;
  let truncated = messages.some((message) => message.truncated);
  let leftOut = messages.length + older;
  for (const message of messages.toReversed()) {
    if (charsLeft <= 0) break;
    const whole = renderMessage(message);
    const part = cutText(whole, charsLeft);
    truncated ||= part.length < whole.length;
    charsLeft -= part.length;
    leftOut -= 1;
    parts.unshift(part);
    if (message.messageId !== null) messageIds.add(message.messageId);
  }
  if (leftOut > 0) {
    parts.unshift(`(${leftOut} older messages of this thread are left out.)`);
    truncated = true;
  }
  return { text: parts.join(SEPARATOR), truncated, messageIds };
}

function renderMessage({ content, receivedAtMs, truncated }: LiveMessage): string {
  if (content === null) {
    return `Received: ${timestampOf(receivedAtMs)}\n\n(This message could not be read.)`;
  }
  const { from, sentAt, subject, attachments, text } = content;
  return [
    `From: ${from}`,
    `Date: ${sentAt ?? timestampOf(receivedAtMs)}`,
    `Subject: ${subject}`,
    ...(attachments.length === 0 ? [] : [`Attachments, not included: ${attachments.join('; ')}`]),
    '',
    text,
    ...(truncated ? ['', '(Only the beginning of this message was fetched.)'] : []),
  ].join('\n');
}
