import { offerSummary } from '../cloud-ai-jobs/offer-actions.ts';
import { addContextItem, type ContextItemDraft } from '../context/add-item.ts';
import { type ItemRow, readItem, readItemBySource } from '../context/store.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import { type ChatMessage, type ChatReading, timeOfTs } from './chat-event.ts';
import type { Written } from './record-event.ts';
import { forgetEventsAbout } from './store.ts';

/** Where the items of one chat team stand. */
export interface ChatPlace {
  workspaceId: string;
  teamId: string;
}

type ItemDeps = Pick<HubDeps, 'ids' | 'queue'>;

/** Edits of one message that are followed; nobody edits that often. */
const EDITS_MAX = 1_000;
const CREATED_BY = 'chat';

/** What triggers name as the source of all chat events. */
export const CHAT_SOURCE = 'slack';

export function chatSource(teamId: string): string {
  return `${CHAT_SOURCE}:${teamId}`;
}

/** A message's name in the ledger, whose source is all of the chat. */
export function chatEventRef(teamId: string, message: Pick<ChatMessage, 'channel' | 'ts'>): string {
  return `${chatSource(teamId)}/${chatRef(message)}`;
}

/** A message's name in its team. */
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

/** The words of a message, and the names of its files. */
export function chatText({ text, files }: ChatMessage): string {
  const names = files.map(({ name, contentType, sizeBytes }) => {
    const more = [contentType, sizeBytes === null ? '' : `${sizeBytes} bytes`].filter(Boolean);
    return more.length === 0 ? name : `${name} (${more.join(', ')})`;
  });
  return names.length === 0 ? text : `${text}\n\nFiles: ${names.join(', ')}`.trimStart();
}

/**
 * Brings a message into the context store. A message is written once, however often and in
 * whatever order its events come; an edit is an item of its own that supersedes the one before;
 * a deletion takes the words and ends the validity of all of them.
 */
export async function writeChatItem(
  deps: ItemDeps,
  tx: Tx,
  place: ChatPlace,
  reading: Exclude<ChatReading, { kind: 'ignored' }>,
): Promise<Written> {
  switch (reading.kind) {
    case 'message': {
      const first = await readFirst(tx, place, reading.message);
      return { itemId: (first ?? (await addMessage(deps, tx, place, reading.message))).item_id };
    }
    case 'edit':
      return writeEdit(deps, tx, place, reading);
    case 'deletion':
      return endMessage(deps, tx, place, reading);
  }
}

async function writeEdit(
  deps: ItemDeps,
  tx: Tx,
  place: ChatPlace,
  { message, editedTs, before }: Extract<ChatReading, { kind: 'edit' }>,
): Promise<Written> {
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
  const last = chain.at(-1) as ItemRow;
  if (last.valid_to !== null || timeOfEdit(last) >= Number(editedTs)) return { ignored: 'stale' };
  const next = await addMessage(deps, tx, place, message, editedTs);
  await rewrite(deps, tx, last, { supersededBy: next.item_id });
  return { itemId: next.item_id };
}

async function endMessage(
  deps: ItemDeps,
  tx: Tx,
  place: ChatPlace,
  { channel, ts, atTs }: Extract<ChatReading, { kind: 'deletion' }>,
): Promise<Written> {
  const { workspaceId, teamId } = place;
  const source = chatSource(teamId);
  const first = await readItemBySource(tx, workspaceId, source, chatRef({ channel, ts }));
  // Its message never came, or comes later: then it finds this and stays away.
  const gone = { channel, channelType: null, ts, threadTs: ts, user: null, text: '', files: [] };
  const chain = await readChain(tx, first ?? (await addMessage(deps, tx, place, gone)));
  for (const item of chain) {
    await rewrite(deps, tx, item, { text: '', validToMs: item.valid_to ?? timeOfTs(atTs) });
  }
  const sourceRef = chatEventRef(teamId, { channel, ts });
  await forgetEventsAbout(tx, { workspaceId, source: CHAT_SOURCE, sourceRef });
  return { itemId: (chain.at(-1) as ItemRow).item_id };
}

function readFirst(tx: Tx, place: ChatPlace, message: ChatMessage): Promise<ItemRow | undefined> {
  return readItemBySource(tx, place.workspaceId, chatSource(place.teamId), chatRef(message));
}

/** A message and its edits, oldest first. */
async function readChain(tx: Tx, first: ItemRow): Promise<ItemRow[]> {
  const chain = [first];
  let next = first.superseded_by;
  while (next !== null && chain.length <= EDITS_MAX) {
    const item = await readItem(tx, first.workspace_id, next);
    if (item === undefined) break;
    chain.push(item);
    next = item.superseded_by;
  }
  return chain;
}

async function addMessage(
  deps: ItemDeps,
  tx: Tx,
  { workspaceId, teamId }: ChatPlace,
  message: ChatMessage,
  editedTs?: string,
): Promise<ItemRow> {
  const { item } = await addContextItem(tx, deps, {
    workspaceId,
    kind: 'chat_message',
    title: chatTitle(message),
    text: chatText(message),
    source: chatSource(teamId),
    sourceRef: chatRef(message) + (editedTs === undefined ? '' : `#${editedTs}`),
    threadRef: chatThread(teamId, message),
    trust: 'external',
    occurredAtMs: timeOfTs(message.ts),
    createdBy: CREATED_BY,
  });
  await offerSummary(deps, tx, item);
  return item;
}

/** Writes an item again with something changed; the policy has kept what there is of its text. */
async function rewrite(
  deps: ItemDeps,
  tx: Tx,
  row: ItemRow,
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

/** When an item's text was written, in the chat's own time; 0 for a message as it was sent. */
function timeOfEdit({ source_ref: sourceRef }: ItemRow): number {
  return Number(sourceRef?.split('#')[1] ?? 0);
}
