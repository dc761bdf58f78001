import { isDeepStrictEqual } from 'node:util';
import { SOURCE_CHARS_MAX, type UnmatchedTrigger } from '@signalbox/contract';
import { timestampOf } from '../clock.ts';
import {
  applyDataPolicy,
  cutText,
  type DataPolicy,
  readDataPolicy,
} from '../context/data-policy.ts';
import { redactSecrets } from '../context/redaction.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { assert } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { fireForEvent } from '../triggers/fire.ts';
import type { EventView } from '../triggers/match-event.ts';
import type { FiringRow } from '../triggers/store-firings.ts';
import type { InboundEvent } from './event.ts';
import {
  type IntegrationEventRow,
  insertEvent,
  readEventByKey,
  updateEventResult,
} from './store.ts';

/** An event after its workspace's data policy was applied. Only this is stored. */
export interface StorableEvent {
  source: string;
  type: string;
  title: string;
  content: string;
  actor: string | null;
  threadRef: string | null;
  sourceRef: string | null;
  /** Null unless the policy stores content in full. */
  data: unknown;
  extensions: Record<string, unknown>;
  /** Whether the policy shortened `content`. */
  truncated: boolean;
}

/** An event, and what the data policy of its workspace allows to be stored of it. */
export interface ScreenedEvent {
  workspaceId: string;
  event: InboundEvent;
  policy: DataPolicy;
  storable: StorableEvent;
}

/** The context item that was written for an event, or the reason why the event is ignored. */
export type ItemOutcome = { itemId: string | null } | { ignored: string };

export interface RecordedEvent {
  row: IntegrationEventRow;
  /** Whether an event with the same key was recorded before; then nothing was written. */
  isDuplicate: boolean;
  firings: FiringRow[];
}

/** The contract's limits, applied again because redaction may lengthen a text. */
const TYPE_CHARS_MAX = 255;
const ACTOR_CHARS_MAX = 300;
const REDACTED = '[redacted]';
/** Names whose value is a secret in any format. */
const secretName =
  /(?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key|(?:^|[_-])token|[a-z]Token)$/i;
/** Shorter values are words such as true or none. */
const SECRET_CHARS_MIN = 6;

/**
 * Applies the data policy before the transaction that records the event: redaction of a long event
 * takes tens of milliseconds, in which no other action of the workspace should wait.
 */
export async function screenEvent(
  reader: Reader,
  workspaceId: string,
  event: InboundEvent,
): Promise<ScreenedEvent> {
  const policy = await readDataPolicy(reader, workspaceId);
  return { workspaceId, event, policy, storable: applyEventPolicy(policy, event) };
}

/**
 * Records an event once, within the caller's transaction: inserts the ledger's row, adds the
 * context item by `addItem`, and fires the matching triggers. If the data policy has changed since
 * the event was screened, it is applied again before all of these. Triggers see the whole event in
 * their conditions, but render their templates from what the policy allows to be stored.
 */
export async function recordEvent(
  deps: HubDeps,
  tx: Tx,
  screened: ScreenedEvent,
  addItem: (storable: StorableEvent) => Promise<ItemOutcome>,
): Promise<RecordedEvent> {
  const { workspaceId, event } = screened;
  const policy = await readDataPolicy(tx, workspaceId);
  const isCurrent = isDeepStrictEqual(policy, screened.policy);
  const storable = isCurrent ? screened.storable : applyEventPolicy(policy, event);
  const row = rowOf(tx, workspaceId, deps.ids('integrationEvent'), { event, storable });
  if (!(await insertEvent(deps.database, tx, row))) {
    const first = await readEventByKey(tx, workspaceId, event.keyHash);
    assert(first !== undefined, 'the event that blocked the insert exists');
    return { row: first, isDuplicate: true, firings: [] };
  }
  const outcome = await addItem(storable);
  let firings: FiringRow[] = [];
  let unmatched: UnmatchedTrigger[] = [];
  if ('ignored' in outcome) {
    Object.assign(row, { status: 'ignored', ignored_reason: outcome.ignored });
  } else {
    row.context_item_id = outcome.itemId;
    ({ firings, unmatched } = await fireForEvent(deps, tx, {
      workspaceId,
      eventId: row.event_id,
      replay: 0,
      matched: viewInbound(event, row),
      rendered: viewStorable(storable, row),
    }));
    row.unmatched = JSON.stringify(unmatched);
  }
  await updateEventResult(tx, row);
  return { row, isDuplicate: false, firings };
}

/**
 * Applies the data policy to every part of an event that may be stored: in the context item, the
 * ledger, and texts rendered from templates. Data counts as content: only `full` stores it.
 */
function applyEventPolicy(policy: DataPolicy, event: InboundEvent): StorableEvent {
  const redact = policy.redactSecrets ? redactSecrets : (text: string) => text;
  const kept = applyDataPolicy(policy, {
    title: event.title ?? `${event.type} from ${event.source}`,
    text: event.content ?? describeData(event.data),
    sourceRef: event.sourceRef,
    threadRef: event.threadRef,
  });
  const storesData = policy.contentStorage === 'full';
  const redactJson = (value: unknown) => (policy.redactSecrets ? redactValue(value) : value);
  return {
    source: cutText(redact(event.source), SOURCE_CHARS_MAX),
    type: cutText(redact(event.type), TYPE_CHARS_MAX),
    title: kept.title,
    content: kept.text,
    actor: event.actor === null ? null : cutText(redact(event.actor), ACTOR_CHARS_MAX),
    threadRef: kept.threadRef,
    sourceRef: kept.sourceRef,
    data: storesData ? redactJson(event.data) : null,
    // Redaction maps an object to an object.
    extensions: storesData ? (redactJson(event.extensions) as Record<string, unknown>) : {},
    truncated: kept.truncated,
  };
}

/** Data without a text is described by its JSON. */
function describeData(data: unknown): string {
  return data === null || data === undefined ? '' : JSON.stringify(data, null, 2);
}

/** Recursion is bounded: bodies are at most 32 levels deep. */
function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redactValue);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      redactSecrets(name),
      isSecret(name, member) ? REDACTED : redactValue(member),
    ]),
  );
}

function isSecret(name: string, value: unknown): boolean {
  return secretName.test(name) && typeof value === 'string' && value.length >= SECRET_CHARS_MIN;
}

function rowOf(
  tx: Tx,
  workspaceId: string,
  eventId: string,
  { event, storable }: { event: InboundEvent; storable: StorableEvent },
): IntegrationEventRow {
  return {
    workspace_id: workspaceId,
    event_id: eventId,
    key_hash: event.keyHash,
    channel: event.channel,
    source: storable.source,
    type: storable.type,
    status: 'accepted',
    ignored_reason: null,
    context_item_id: null,
    occurred_at: event.occurredAtMs ?? tx.nowMs,
    received_at: tx.nowMs,
    replays: 0,
    unmatched: '[]',
    forgotten_at: null,
    title: storable.title,
    actor: storable.actor,
    thread_ref: storable.threadRef,
    source_ref: storable.sourceRef,
    data: storable.data === null ? null : JSON.stringify(storable.data),
    extensions: JSON.stringify(storable.extensions),
    content: storable.content,
  };
}

/** The whole event as the sender sent it. It is matched against conditions and never stored. */
function viewInbound(event: InboundEvent, row: IntegrationEventRow): EventView {
  const { channel, source, type, title, content, actor, threadRef, sourceRef, data } = event;
  const { extensions } = event;
  const fields = { channel, source, type, title, content, actor, threadRef, sourceRef, data };
  return { ...fields, extensions, ...rowFieldsOf(row) };
}

/** The event as the data policy allows it to be stored. */
function viewStorable(storable: StorableEvent, row: IntegrationEventRow): EventView {
  const { truncated: _unused, ...fields } = storable;
  return { ...fields, channel: row.channel, ...rowFieldsOf(row) };
}

/** An event of the ledger, as it was stored. */
export function viewRecorded(row: IntegrationEventRow): EventView {
  return {
    channel: row.channel,
    source: row.source,
    type: row.type,
    title: row.title,
    content: row.content,
    actor: row.actor,
    threadRef: row.thread_ref,
    sourceRef: row.source_ref,
    // Both columns were serialized by `rowOf`.
    data: JSON.parse(row.data ?? 'null'),
    extensions: JSON.parse(row.extensions ?? '{}') as Record<string, unknown>,
    ...rowFieldsOf(row),
  };
}

function rowFieldsOf(
  row: IntegrationEventRow,
): Pick<EventView, 'id' | 'occurredAt' | 'contextItemId'> {
  return {
    id: row.event_id,
    occurredAt: timestampOf(row.occurred_at),
    contextItemId: row.context_item_id,
  };
}
