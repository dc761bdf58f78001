import { isDeepStrictEqual } from 'node:util';
import type { UnmatchedTrigger } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import { type DataPolicy, readDataPolicy } from '../context/data-policy.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { fireForEvent } from '../triggers/fire.ts';
import type { EventFields, EventView } from '../triggers/match-event.ts';
import type { FiringRow } from '../triggers/store-firings.ts';
import type { InboundEvent } from './event.ts';
import {
  applyEventPolicy,
  eventScreening,
  isLongEvent,
  type StorableEvent,
} from './event-policy.ts';
import { type IntegrationEventRow, insertEvent, readEventByKey, updateEvent } from './store.ts';

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

/**
 * Applies the data policy before the transaction that records the event. The redaction of a long
 * event takes tens of milliseconds, so another thread makes it.
 */
export async function screenEvent(
  { database, sideThread }: Pick<HubDeps, 'database' | 'sideThread'>,
  workspaceId: string,
  event: InboundEvent,
): Promise<ScreenedEvent> {
  const policy = await readDataPolicy(database.reader, workspaceId);
  const storable = isLongEvent(event)
    ? await sideThread.run(workspaceId, eventScreening, { policy, event })
    : applyEventPolicy(policy, event);
  return { workspaceId, event, policy, storable };
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
  if (!(await insertEvent(tx, row))) {
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
  const { status, ignored_reason, context_item_id, unmatched: unmatchedText } = row;
  await updateEvent(tx, row, { status, ignored_reason, context_item_id, unmatched: unmatchedText });
  return { row, isDuplicate: false, firings };
}

export function rowOf(
  tx: Tx,
  workspaceId: string,
  eventId: string,
  { event, storable }: { event: InboundEvent; storable: EventFields },
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
  const { keyHash: _key, occurredAtMs: _time, ...fields } = event;
  return { ...fields, ...rowFieldsOf(row) };
}

/** The event as the data policy allows it to be stored. */
function viewStorable(storable: StorableEvent, row: IntegrationEventRow): EventView {
  const { truncated: _truncated, ...fields } = storable;
  return { ...fields, ...rowFieldsOf(row) };
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
