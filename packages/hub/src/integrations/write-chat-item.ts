import { addContextItem, type ContextItemDraft } from '../context/add-item.ts';
import { type PreparedText, prepareText, type TextDeps } from '../context/prepare-text.ts';
import { type ContextItemRow, readItem, readItemBySource } from '../context/store.ts';
import type { Reader, Tx } from '../db/engine.ts';
import type { HookDeps } from '../start/hooks.ts';
import { type ChatMessage, type ChatReading, timeOfTs } from './chat-event.ts';
import type { ItemOutcome } from './record-event.ts';
import { deleteEventContent } from './store.ts';

/** A chat team and the workspace that its items belong to. */
export interface ChatPlace {
  workspaceId: string;
  teamId: string;
}

/** Long texts as `prepareText` returned them, by the text that arrived and by the outcome. */
export type PreparedTexts = ReadonlyMap<string, PreparedText>;

/** The place of an event's items, with what was done before the transaction. */
export interface PreparedPlace extends ChatPlace {
  preparedTexts: PreparedTexts;
}

/** How many edits of one message are followed. */
const EDITS_MAX = 1_000;
const CREATED_BY = 'chat';

/** The source of all chat events, as triggers name it. */
export const CHAT_SOURCE = 'slack';

export function chatSource(teamId: string): string {
  return `${CHAT_SOURCE}:${teamId}`;
}

/** The reference of a message in the ledger, unique among all teams. */
export function chatEventRef(teamId: string, message: Pick<ChatMessage, 'channel' | 'ts'>): string {
  return `${chatSource(teamId)}/${chatRef(message)}`;
}

/** The reference of a message within its team. */
function chatRef({ channel, ts }: Pick<ChatMessage, 'channel' | 'ts'>): string {
  return `${channel}/${ts}`;
}

export function chatThread(teamId: string, { channel, threadTs }: ChatMessage): string {
  return `${chatSource(teamId)}/${channel}/${threadTs}`;
}

export function chatTitle({ channel, user, ts, threadTs }: ChatMessage): string {
  const what = threadTs === ts ? 'Chat message' : 'Chat reply';
  return `${what} in ${channel}${user === null ? '' : ` by ${user}`}`;
}

/** The text of a message with the names of its files. */
export function chatText({ text, files }: ChatMessage): string {
  const names = files.map(({ name, contentType, sizeBytes }) => {
    const more = [contentType, sizeBytes === null ? '' : `${sizeBytes} bytes`].filter(Boolean);
    return more.length === 0 ? name : `${name} (${more.join(', ')})`;
  });
  return names.length === 0 ? text : `${text}\n\nFiles: ${names.join(', ')}`.trimStart();
}

/**
 * Prepares the long texts that `writeChatItem` is going to write, before its transaction: those of
 * the event, and that of the item which an edit supersedes.
 */
export async function prepareChatTexts(
  deps: TextDeps,
  place: ChatPlace,
  reading: ChatReading,
): Promise<PreparedTexts> {
  const prepared = new Map<string, PreparedText>();
  if (reading.kind !== 'message' && reading.kind !== 'edit') return prepared;
  const texts = new Set([chatText(reading.message)]);
  if (reading.kind === 'edit') {
    const { reader } = deps.database;
    const first = await readFirst(reader, place, reading.message);
    const last = first === undefined ? undefined : (await readChain(reader, first)).at(-1);
    if (reading.before !== null) texts.add(chatText(reading.before));
    if (last !== undefined) texts.add(last.text);
  }
  for (const text of texts) {
    if (prepared.has(text)) continue;
    const outcome = await prepareText(deps, place.workspaceId, text);
    if (outcome === undefined) continue;
    // An edit writes the item that it supersedes again, with the text as it was stored.
    prepared.set(text, outcome).set(outcome.text, outcome);
  }
  return prepared;
}

/**
 * Applies a chat event to the context items. A message gets one item, even if its events arrive
 * repeatedly or out of order. An edit gets its own item, which supersedes the one before. A
 * deletion empties the texts of the message and its edits and ends their validity.
 */
export async function writeChatItem(
  deps: HookDeps,
  tx: Tx,
  place: PreparedPlace,
  reading: Exclude<ChatReading, { kind: 'ignored' }>,
): Promise<ItemOutcome> {
  switch (reading.kind) {
    case 'message': {
      const first = await readFirst(tx, place, reading.message);
      return { itemId: (first ?? (await addMessage(deps, tx, place, reading.message))).item_id };
    }
    case 'edit':
      return writeEdit(deps, tx, place, reading);
    case 'deletion':
      return writeDeletion(deps, tx, place, reading);
  }
}

async function writeEdit(
  deps: HookDeps,
  tx: Tx,
  place: PreparedPlace,
  { message, editedTs, before }: Extract<ChatReading, { kind: 'edit' }>,
): Promise<ItemOutcome> {
  if (before !== null && chatText(before) === chatText(message)) return { ignored: 'unchanged' };
  const first = await readFirst(tx, place, message);
  if (first === undefined && before === null) {
    const item = await addMessage(deps, tx, place, message);
    return { itemId: item.item_id };
  }
  const chain = await readChain(
    tx,
    first ?? (await addMessage(deps, tx, place, before ?? message)),
  );
  const last = chain.at(-1) as ContextItemRow;
  if (last.valid_to !== null || timeOfEdit(last) >= Number(editedTs)) return { ignored: 'stale' };
  const next = await addMessage(deps, tx, place, message, editedTs);
  await rewrite(deps, tx, last, {
    supersededBy: next.item_id,
    preparedText: place.preparedTexts.get(last.text),
  });
  return { itemId: next.item_id };
}

async function writeDeletion(
  deps: HookDeps,
  tx: Tx,
  place: PreparedPlace,
  { channel, ts, atTs }: Extract<ChatReading, { kind: 'deletion' }>,
): Promise<ItemOutcome> {
  const { workspaceId, teamId } = place;
  const source = chatSource(teamId);
  const first = await readItemBySource(tx, workspaceId, source, chatRef({ channel, ts }));
  // If the message arrives after its deletion, it finds this empty item and is not added.
  const empty = { channel, channelType: null, ts, threadTs: ts, user: null, text: '', files: [] };
  const chain = await readChain(tx, first ?? (await addMessage(deps, tx, place, empty)));
  for (const item of chain) {
    await rewrite(deps, tx, item, { text: '', validToMs: item.valid_to ?? timeOfTs(atTs) });
  }
  const sourceRef = chatEventRef(teamId, { channel, ts });
  await deleteEventContent(tx, { workspaceId, source: CHAT_SOURCE, sourceRef });
  return { itemId: (chain.at(-1) as ContextItemRow).item_id };
}

function readFirst(
  reader: Reader,
  place: ChatPlace,
  message: ChatMessage,
): Promise<ContextItemRow | undefined> {
  return readItemBySource(reader, place.workspaceId, chatSource(place.teamId), chatRef(message));
}

/** Reads the items of a message and its edits, oldest first. */
async function readChain(reader: Reader, first: ContextItemRow): Promise<ContextItemRow[]> {
  const chain = [first];
  let next = first.superseded_by;
  while (next !== null && chain.length <= EDITS_MAX) {
    const item = await readItem(reader, first.workspace_id, next);
    if (item === undefined) break;
    chain.push(item);
    next = item.superseded_by;
  }
  return chain;
}

async function addMessage(
  deps: HookDeps,
  tx: Tx,
  { workspaceId, teamId, preparedTexts }: PreparedPlace,
  message: ChatMessage,
  editedTs?: string,
): Promise<ContextItemRow> {
  const text = chatText(message);
  const { item } = await addContextItem(tx, deps, {
    workspaceId,
    kind: 'chat_message',
    title: chatTitle(message),
    text,
    preparedText: preparedTexts.get(text),
    source: chatSource(teamId),
    sourceRef: chatRef(message) + (editedTs === undefined ? '' : `#${editedTs}`),
    threadRef: chatThread(teamId, message),
    trust: 'external',
    occurredAtMs: timeOfTs(message.ts),
    createdBy: CREATED_BY,
  });
  return item;
}

/** Writes an item again with changes. Its text has passed the data policy before. */
async function rewrite(
  deps: HookDeps,
  tx: Tx,
  row: ContextItemRow,
  changes: Partial<ContextItemDraft>,
): Promise<void> {
  await addContextItem(tx, deps, {
    workspaceId: row.workspace_id,
    itemId: row.item_id,
    kind: 'chat_message',
    title: row.title,
    text: row.text,
    source: row.source,
    sourceRef: row.source_ref ?? undefined,
    threadRef: row.thread_ref ?? undefined,
    trust: row.trust,
    pinned: row.pinned === 1,
    truncated: row.truncated === 1,
    occurredAtMs: row.occurred_at,
    supersededBy: row.superseded_by ?? undefined,
    validFromMs: row.valid_from ?? undefined,
    validToMs: row.valid_to ?? undefined,
    createdBy: row.created_by,
    ...changes,
  });
}

/** Returns the chat's time of an edit from its item's reference; 0 for the original message. */
function timeOfEdit({ source_ref: sourceRef }: ContextItemRow): number {
  return Number(sourceRef?.split('#')[1] ?? 0);
}
