import type { IgnoredReason } from '@signalbox/contract';

/*
 * Reads the inner events of the Slack Events API (docs.slack.dev/reference/events) that are about
 * messages. Every field is checked before use: the signature proves the sender, not the format.
 */

interface ChatFile {
  name: string;
  contentType: string;
  sizeBytes: number | null;
}

/** A message in its current version. */
export interface ChatMessage {
  channel: string;
  channelType: string | null;
  /** The chat's timestamp of the message, which identifies it within the channel. */
  ts: string;
  /** The timestamp of the thread's first message; the message's own outside a thread. */
  threadTs: string;
  user: string | null;
  text: string;
  files: ChatFile[];
}

export type ChatReading =
  | { kind: 'message'; type: string; message: ChatMessage }
  | { kind: 'edit'; message: ChatMessage; editedTs: string; before: ChatMessage | null }
  | { kind: 'deletion'; channel: string; ts: string; atTs: string }
  | { kind: 'ignored'; type: string; reason: IgnoredReason };

type Fields = Record<string, unknown>;

const idPattern = /^[A-Z0-9]{1,40}$/;
const tsPattern = /^\d{1,12}\.\d{1,9}$/;
const TYPE_CHARS_MAX = 100;
const FILES_MAX = 20;
const FILE_NAME_CHARS_MAX = 255;
/** Subtypes of messages that people write. */
const humanSubtypes = new Set(['file_share', 'me_message', 'thread_broadcast']);
const MS_PER_SECOND = 1_000;

/** Reads an inner event. An event that is not used is `ignored`, with the reason. */
export function readChatEvent(event: Fields): ChatReading {
  const type = textOf(event.type) ?? '';
  const subtype = textOf(event.subtype);
  const name = (subtype ?? type).slice(0, TYPE_CHARS_MAX) || 'unknown';
  const ignore = (reason: IgnoredReason) => ({ kind: 'ignored', type: name, reason }) as const;
  if (type !== 'message' && type !== 'app_mention') return ignore('event_type');
  if (isByBot(event) || isByBot(fieldsOf(event.message) ?? {})) return ignore('bot_message');
  if (subtype === 'message_changed') return readChange(event) ?? ignore('event_type');
  if (subtype === 'message_deleted') return readDeletion(event) ?? ignore('event_type');
  if (subtype !== null && !humanSubtypes.has(subtype)) return ignore('event_type');
  const message = readMessage(event, event);
  if (message === null) return ignore('event_type');
  const kindOfMessage = subtype === 'file_share' ? 'file_share' : type;
  return { kind: 'message', type: kindOfMessage, message };
}

/** Converts a timestamp of the chat to milliseconds. */
export function timeOfTs(ts: string): number {
  return Math.floor(Number(ts) * MS_PER_SECOND);
}

function readChange(event: Fields): ChatReading | null {
  const now = fieldsOf(event.message);
  const message = now && readMessage(event, now);
  if (now === null || message === null) return null;
  // The deleted first message of a thread whose replies remain.
  if (now.subtype === 'tombstone') return deletionOf(message, event.event_ts);
  const before = fieldsOf(event.previous_message);
  const editedTs = tsOf(fieldsOf(now.edited)?.ts) ?? tsOf(event.event_ts) ?? message.ts;
  return {
    kind: 'edit',
    message,
    editedTs,
    before: before && readMessage(event, before),
  };
}

function readDeletion(event: Fields): ChatReading | null {
  const channel = idOf(event.channel);
  const ts = tsOf(event.deleted_ts) ?? tsOf(fieldsOf(event.previous_message)?.ts);
  return channel === null || ts === null ? null : deletionOf({ channel, ts }, event.event_ts);
}

function deletionOf({ channel, ts }: { channel: string; ts: string }, at: unknown): ChatReading {
  return { kind: 'deletion', channel, ts, atTs: tsOf(at) ?? ts };
}

/** @param event has the channel; @param fields has the rest. They differ for an edited message. */
function readMessage(event: Fields, fields: Fields): ChatMessage | null {
  const channel = idOf(event.channel);
  const ts = tsOf(fields.ts);
  if (channel === null || ts === null) return null;
  return {
    channel,
    channelType: textOf(event.channel_type)?.slice(0, TYPE_CHARS_MAX) ?? null,
    ts,
    threadTs: tsOf(fields.thread_ts) ?? ts,
    user: idOf(fields.user),
    text: unescapeText(textOf(fields.text) ?? ''),
    files: readFiles(fields.files),
  };
}

function readFiles(value: unknown): ChatFile[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, FILES_MAX).flatMap((file) => {
    const fields = fieldsOf(file);
    const name = textOf(fields?.name) ?? textOf(fields?.title);
    if (fields === null || name === null) return [];
    return {
      name: name.slice(0, FILE_NAME_CHARS_MAX).toWellFormed(),
      contentType: (textOf(fields.mimetype) ?? '').slice(0, FILE_NAME_CHARS_MAX),
      sizeBytes: typeof fields.size === 'number' ? fields.size : null,
    };
  });
}

function isByBot(fields: Fields): boolean {
  return fields.subtype === 'bot_message' || textOf(fields.bot_id) !== null;
}

/** Unescapes the three characters that the chat escapes in texts. */
function unescapeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function idOf(value: unknown): string | null {
  return typeof value === 'string' && idPattern.test(value) ? value : null;
}

function tsOf(value: unknown): string | null {
  return typeof value === 'string' && tsPattern.test(value) ? value : null;
}
