import type { ImapFlow } from 'imapflow';
import { MESSAGE_BYTES_MAX } from './connect.ts';
import { findThread, type MessageHead, openMailbox } from './find-thread.ts';

/** A message of a thread, not parsed yet. */
export interface FetchedMessage {
  messageId: string | null;
  receivedAtMs: number;
  source: Uint8Array;
  /** Whether only the beginning of the message was fetched. */
  truncated: boolean;
}

export interface FetchedThread {
  /** Oldest first. */
  messages: FetchedMessage[];
  /** How many older messages were not fetched. */
  leftOut: number;
}

/** Only the latest messages of a longer thread are fetched. */
const THREAD_MESSAGES_MAX = 30;
/** All messages of one thread together. */
const THREAD_BYTES_MAX = 8 * 1_048_576;
const MAILBOXES_MAX = 5;

/**
 * Lists the mailboxes to search for threads: those of the account's settings; else the mailbox with
 * all mail, if the server has one; else the inbox, sent mail and the archive.
 */
export async function listThreadMailboxes(
  client: ImapFlow,
  configured: readonly string[],
): Promise<string[]> {
  if (configured.length > 0) return configured.slice(0, MAILBOXES_MAX);
  const mailboxes = await client.list();
  const pathsOf = (...uses: string[]) =>
    mailboxes.filter(({ specialUse }) => uses.includes(specialUse ?? '')).map(({ path }) => path);
  const everything = pathsOf('\\All');
  if (everything.length > 0) return everything.slice(0, 1);
  return [...new Set(['INBOX', ...pathsOf('\\Sent', '\\Archive')])].slice(0, MAILBOXES_MAX);
}

/**
 * Finds a thread and fetches its latest messages, without duplicates. No message is marked as read.
 *
 * @param threadRef at least one message id of the thread; or `thrid:` and the provider's thread id
 *   (X-GM-THRID, or THREADID of RFC 8474).
 */
export async function fetchThread(
  client: ImapFlow,
  mailboxes: readonly string[],
  threadRef: string,
): Promise<FetchedThread> {
  const heads = dropCopies(await findThread(client, mailboxes, threadRef));
  heads.sort((a, b) => a.receivedAtMs - b.receivedAtMs || a.uid - b.uid);
  const messages: FetchedMessage[] = [];
  let bytesLeft = THREAD_BYTES_MAX;
  // Latest first, so that the limits cut the beginning of a long thread.
  for (const head of heads.slice(-THREAD_MESSAGES_MAX).reverse()) {
    if (bytesLeft <= 0) break;
    const source = await fetchSource(client, head, Math.min(MESSAGE_BYTES_MAX, bytesLeft));
    if (source === null) continue;
    bytesLeft -= source.length;
    messages.unshift({
      messageId: head.messageId,
      receivedAtMs: head.receivedAtMs,
      source,
      truncated: source.length < head.sizeBytes,
    });
  }
  return { messages, leftOut: heads.length - messages.length };
}

/** Drops copies: a message that was filed twice or sent to oneself is in several mailboxes. */
function dropCopies(heads: readonly MessageHead[]): MessageHead[] {
  const seen = new Set<string>();
  return heads.filter(({ messageId }) => {
    if (messageId === null) return true;
    if (seen.has(messageId)) return false;
    seen.add(messageId);
    return true;
  });
}

async function fetchSource(
  client: ImapFlow,
  { mailbox, uid }: MessageHead,
  bytesMax: number,
): Promise<Uint8Array | null> {
  await openMailbox(client, mailbox);
  const query = { source: { start: 0, maxLength: bytesMax } };
  const message = await client.fetchOne(String(uid), query, { uid: true });
  return message ? (message.source ?? null) : null;
}
