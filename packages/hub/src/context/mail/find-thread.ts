import type { FetchMessageObject, ImapFlow, SearchObject } from 'imapflow';
import { parseMessageId } from './message-id.ts';

/** Each round finds messages that refer to, or are referred to by, those of the round before. */
const ROUNDS_MAX = 4;
const HEADS_MAX = 200;
const IDS_SEARCHED_MAX = 40;
const REFERENCES_MAX = 40;
const PROVIDER_THREAD_PREFIX = 'thrid:';

/** The headers of a message that the search reads. */
export interface MessageHead {
  mailbox: string;
  uid: number;
  messageId: string | null;
  /** The ids of all messages that this one says it answers. */
  references: string[];
  receivedAtMs: number;
  sizeBytes: number;
}

/**
 * Finds the messages of a thread, in no particular order. A message in several mailboxes is found
 * several times.
 *
 * @param threadRef as in `fetchThread`.
 */
export async function findThread(
  client: ImapFlow,
  mailboxes: readonly string[],
  threadRef: string,
): Promise<MessageHead[]> {
  const hasThreadIds = client.capabilities.has('OBJECTID') || client.capabilities.has('X-GM-EXT-1');
  const isProviders = threadRef.startsWith(PROVIDER_THREAD_PREFIX);
  const ids = messageIdsOf(threadRef);
  if (isProviders || hasThreadIds) {
    const named = isProviders ? threadRef.slice(PROVIDER_THREAD_PREFIX.length).trim() : null;
    if (isProviders && (!hasThreadIds || !/^[\w-]{1,255}$/.test(named ?? ''))) return [];
    const threadId = named ?? (await findThreadId(client, mailboxes, ids));
    if (threadId !== null) return listThreadById(client, mailboxes, threadId);
  }
  return followReferences(client, mailboxes, ids);
}

async function findThreadId(
  client: ImapFlow,
  mailboxes: readonly string[],
  ids: readonly string[],
): Promise<string | null> {
  if (ids.length === 0) return null;
  for (const mailbox of mailboxes) {
    await openMailbox(client, mailbox);
    const [uid] = await searchUids(client, anyOf(ids.map(byMessageId)));
    if (uid === undefined) continue;
    const message = await client.fetchOne(String(uid), { threadId: true }, { uid: true });
    if (message && message.threadId !== undefined) return message.threadId;
  }
  return null;
}

async function listThreadById(
  client: ImapFlow,
  mailboxes: readonly string[],
  threadId: string,
): Promise<MessageHead[]> {
  const heads: MessageHead[] = [];
  for (const mailbox of mailboxes) {
    await openMailbox(client, mailbox);
    heads.push(...(await fetchHeads(client, mailbox, await searchUids(client, { threadId }))));
  }
  return heads;
}

/**
 * Follows Message-ID, In-Reply-To and References through all mailboxes until no further message is
 * found. An answer in the inbox may refer only to a message in the mailbox of sent mail.
 */
async function followReferences(
  client: ImapFlow,
  mailboxes: readonly string[],
  ids: readonly string[],
): Promise<MessageHead[]> {
  const known = new Set(ids);
  const heads = new Map<string, MessageHead>();
  const searches = mailboxes.map((mailbox) => ({ mailbox, done: new Set<string>() }));
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = known.size;
    for (const { mailbox, done } of searches) {
      const news = [...known].filter((id) => !done.has(id)).slice(0, IDS_SEARCHED_MAX);
      if (news.length === 0 || heads.size >= HEADS_MAX) continue;
      for (const id of news) done.add(id);
      for (const head of await searchMentions(client, mailbox, news)) addHead(heads, known, head);
    }
    if (known.size === before && round > 0) break;
  }
  return [...heads.values()];
}

/** Servers match parts of a header, so the ids are compared here as a whole. */
function addHead(heads: Map<string, MessageHead>, known: Set<string>, head: MessageHead): void {
  const named = [...(head.messageId === null ? [] : [head.messageId]), ...head.references];
  if (!named.some((id) => known.has(id))) return;
  heads.set(`${head.mailbox}/${head.uid}`, head);
  for (const id of named) known.add(id);
}

/** Finds the messages that have these ids or refer to them. */
async function searchMentions(
  client: ImapFlow,
  mailbox: string,
  ids: readonly string[],
): Promise<MessageHead[]> {
  await openMailbox(client, mailbox);
  const conditions = ids.flatMap((id) => [
    byMessageId(id),
    byHeader('references', id),
    byHeader('in-reply-to', id),
  ]);
  return fetchHeads(client, mailbox, await searchUids(client, anyOf(conditions)));
}

/** Opens a mailbox read-only, so that no message is marked as seen. */
export async function openMailbox(client: ImapFlow, mailbox: string): Promise<void> {
  if (client.mailbox !== false && client.mailbox.path === mailbox) return;
  await client.mailboxOpen(mailbox, { readOnly: true });
}

async function fetchHeads(
  client: ImapFlow,
  mailbox: string,
  uids: readonly number[],
): Promise<MessageHead[]> {
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
  return messages.map((message) => headOf(mailbox, message));
}

function headOf(mailbox: string, message: FetchMessageObject): MessageHead {
  const { envelope } = message;
  const header = message.headers?.toString('latin1') ?? '';
  const inReplyTo = messageIdsOf(envelope?.inReplyTo ?? '');
  const receivedAtMs = new Date(message.internalDate ?? 0).getTime();
  return {
    mailbox,
    uid: message.uid,
    messageId: parseMessageId(envelope?.messageId),
    references: [...inReplyTo, ...messageIdsOf(header.replace(/^references:/i, ''))],
    receivedAtMs: Number.isNaN(receivedAtMs) ? 0 : receivedAtMs,
    sizeBytes: message.size ?? 0,
  };
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

/** Finds message ids in a header or in an item's thread reference, with or without brackets. */
function messageIdsOf(text: string): string[] {
  const ids = text
    .split(/[\s,]+|(?<=>)(?=<)/)
    .map(parseMessageId)
    .filter((id) => id !== null)
    // Text without an @ is an ordinary word, which would match unrelated messages.
    .filter((id) => id.includes('@') && /^[\x21-\x7e]+$/.test(id));
  return [...new Set(ids)].slice(-REFERENCES_MAX);
}
