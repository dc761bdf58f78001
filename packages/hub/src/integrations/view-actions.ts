import { timestampOf } from '../clock.ts';
import type { EventView } from '../triggers/event-view.ts';
import type { InboundEvent } from './event.ts';
import type { KeptEvent } from './keeping-actions.ts';
import type { EventRow } from './store.ts';

/** All of an event, as conditions see it while it is there; nothing of this is written. */
export function viewArrived(event: InboundEvent, row: EventRow): EventView {
  const { channel, source, type, title, content, actor, threadRef, sourceRef, data } = event;
  const { extensions } = event;
  const fields = { channel, source, type, title, content, actor, threadRef, sourceRef, data };
  return { ...fields, extensions, ...placeOf(row) };
}

/** An event as the data policy keeps it. */
export function viewKept(kept: KeptEvent, row: EventRow): EventView {
  const { truncated: _unused, ...fields } = kept;
  return { ...fields, channel: row.channel, ...placeOf(row) };
}

/** The same, from the ledger. */
export function viewStored(row: EventRow): EventView {
  return {
    channel: row.channel,
    source: row.source,
    type: row.type,
    title: row.title,
    content: row.content,
    actor: row.actor,
    threadRef: row.thread_ref,
    sourceRef: row.source_ref,
    // Written when the event came in, from what was kept of it.
    data: JSON.parse(row.data ?? 'null'),
    extensions: JSON.parse(row.extensions ?? '{}') as Record<string, unknown>,
    ...placeOf(row),
  };
}

function placeOf(row: EventRow): Pick<EventView, 'id' | 'occurredAt' | 'contextItemId'> {
  return {
    id: row.event_id,
    occurredAt: timestampOf(row.occurred_at),
    contextItemId: row.context_item_id,
  };
}
