import type { FetchMessageObject, ImapFlow, SearchObject } from 'imapflow';
import { MESSAGE_BYTES_MAX } from './mail-connection.ts';
import { bareId } from './message-id.ts';

/** A message of a thread as it was fetched. */
export interface FetchedMessage {
  messageId: string | null;
  receivedAtMs: number;
  source: Uint8Array;
  /** The message is longer than what was fetched of it. */
  truncated: boolean;
}

/** Of a longer thread the latest messages are fetched. */
export const THREAD_MESSAGES_MAX = 30;
/** All messages of one thread together. */
const THREAD_BYTES_MAX = 8 * 1_048_576;
/** Each round finds the messages that name, or are named by, those of the round before. */
const ROUNDS_MAX = 4;
const HEADS_MAX = 200;
const IDS_SEARCHED_MAX = 40;
const REFERENCES_MAX = 40;
const MAILBOXES_MAX = 5;
const PROVIDER_THREAD_PREFIX = 'thrid:';

interface MessageHead {
  uid: number;
  messageId: string | null;
  /** Every message that it says it answers. */
  references: string[];
  receivedAtMs: number;
  sizeBytes: number;
}

/**
 * The mailboxes in which threads are looked for: those of the account's settings; else the one
 * with everything, where there is one; else the inbox, what was sent and what was put away.
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
 * Finds a thread in a mailbox and fetches its latest messages, oldest first. Nothing is marked as
 * read.
 *
 * @param threadRef message ids of the thread, one is enough; or `thrid:` and the provider's own
 *   thread id (X-GM-THRID, or THREADID of RFC 8474).
 */
export async function fetchThread(
  client: ImapFlow,
  mailbox: string,
  threadRef: string,
): Promise<FetchedMessage[]> {
  await client.mailboxOpen(mailbox, { readOnly: true });
  const heads = await findThread(client, threadRef);
  heads.sort((a, b) => a.receivedAtMs - b.receivedAtMs || a.uid - b.uid);
  const messages: FetchedMessage[] = [];
  let bytesLeft = THREAD_BYTES_MAX;
  // Latest first, so that a thread that is too long loses its beginning.
  for (const head of heads.slice(-THREAD_MESSAGES_MAX).reverse()) {
    if (bytesLeft <= 0) break;
    const source = await fetchSource(client, head.uid, Math.min(MESSAGE_BYTES_MAX, bytesLeft));
    if (source === null) continue;
    bytesLeft -= source.length;
    messages.unshift({
      messageId: head.messageId,
      receivedAtMs: head.receivedAtMs,
      source,
      truncated: source.length < head.sizeBytes,
    });
  }
  return messages;
}

async function findThread(client: ImapFlow, threadRef: string): Promise<MessageHead[]> {
  const hasThreadIds = client.capabilities.has('OBJECTID') || client.capabilities.has('X-GM-EXT-1');
  if (threadRef.startsWith(PROVIDER_THREAD_PREFIX)) {
    const threadId = threadRef.slice(PROVIDER_THREAD_PREFIX.length).trim();
    if (!hasThreadIds || !/^[\w-]{1,255}$/.test(threadId)) return [];
    return fetchHeads(client, await searchUids(client, { threadId }));
  }
  const ids = messageIdsOf(threadRef);
  if (ids.length === 0) return [];
  if (hasThreadIds) {
    const threadId = await findThreadId(client, ids);
    if (threadId !== null) return fetchHeads(client, await searchUids(client, { threadId }));
  }
  return followReferences(client, ids);
}

async function findThreadId(client: ImapFlow, ids: readonly string[]): Promise<string | null> {
  const [uid] = await searchUids(client, anyOf(ids.map(byMessageId)));
  if (uid === undefined) return null;
  const message = await client.fetchOne(String(uid), { threadId: true }, { uid: true });
  return message ? (message.threadId ?? null) : null;
}

/** Follows Message-ID, In-Reply-To and References until no further message is found. */
async function followReferences(client: ImapFlow, ids: readonly string[]): Promise<MessageHead[]> {
  const known = new Set(ids);
  const heads = new Map<number, MessageHead>();
  let news = [...ids];
  for (let round = 0; round < ROUNDS_MAX && news.length > 0 && heads.size < HEADS_MAX; round++) {
    const conditions = news
      .slice(0, IDS_SEARCHED_MAX)
      .flatMap((id) => [byMessageId(id), byHeader('references', id), byHeader('in-reply-to', id)]);
    const uids = await searchUids(client, anyOf(conditions));
    const unseen = uids.filter((uid) => !heads.has(uid)).slice(0, HEADS_MAX - heads.size);
    news = [];
    for (const head of await fetchHeads(client, unseen)) {
      const named = [...(head.messageId === null ? [] : [head.messageId]), ...head.references];
      // Servers search for parts of a header; only whole ids make a thread.
      if (!named.some((id) => known.has(id))) continue;
      heads.set(head.uid, head);
      news.push(...named.filter((id) => !known.has(id)));
    }
    for (const id of news) known.add(id);
    news = [...new Set(news)];
  }
  return [...heads.values()];
}

async function fetchHeads(client: ImapFlow, uids: readonly number[]): Promise<MessageHead[]> {
  if (uids.length === 0) return [];
  const latest = uids.slice(-HEADS_MAX);
  const query = {
    uid: true,
    envelope: true,
    internalDate: true,
    size: true,
    headers: ['references'],
  };
  const messages = await client.fetchAll(latest.join(','), query, { uid: true });
  return messages.map(headOf);
}

function headOf(message: FetchMessageObject): MessageHead {
  const { envelope } = message;
  const header = message.headers?.toString('latin1') ?? '';
  const inReplyTo = messageIdsOf(envelope?.inReplyTo ?? '');
  const receivedAtMs = new Date(message.internalDate ?? 0).getTime();
  return {
    uid: message.uid,
    messageId: bareId(envelope?.messageId),
    references: [...inReplyTo, ...messageIdsOf(header.replace(/^references:/i, ''))],
    receivedAtMs: Number.isNaN(receivedAtMs) ? 0 : receivedAtMs,
    sizeBytes: message.size ?? 0,
  };
}

async function fetchSource(
  client: ImapFlow,
  uid: number,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const query = { source: { start: 0, maxLength: bytesMax } };
  const message = await client.fetchOne(String(uid), query, { uid: true });
  return message ? (message.source ?? null) : null;
}

async function searchUids(client: ImapFlow, query: SearchObject): Promise<number[]> {
  const uids = await client.search(query, { uid: true });
  return Array.isArray(uids) ? uids : [];
}

function anyOf(conditions: SearchObject[]): SearchObject {
  return { or: conditions };
}

function byMessageId(id: string): SearchObject {
  return byHeader('message-id', `<${id}>`);
}

function byHeader(name: string, value: string): SearchObject {
  return { header: { [name]: value } };
}

/** Message ids in a header, or in a reference that a program made: with or without brackets. */
function messageIdsOf(text: string): string[] {
  const ids = text
    .split(/[\s,]+|(?<=>)(?=<)/)
    .map(bareId)
    .filter((id) => id !== null)
    // Without an @ it is a word, and a search for a word finds anything.
    .filter((id) => id.includes('@') && /^[\x21-\x7e]+$/.test(id));
  return [...new Set(ids)].slice(-REFERENCES_MAX);
}
