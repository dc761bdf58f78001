import type { UnmatchedTrigger } from '@signalbox/contract';
import { readDataPolicy } from '../context/add-item.ts';
import type { Tx } from '../db/engine.ts';
import { assert } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { fireForEvent } from '../triggers/fire.ts';
import type { FiringRow } from '../triggers/store-firings.ts';
import type { InboundEvent } from './event.ts';
import { type KeptEvent, keepEvent } from './keeping-actions.ts';
import { type EventRow, insertEvent, readEventByKey, updateEventResult } from './store.ts';
import { viewArrived, viewKept } from './view-actions.ts';

/** What writing an event's content came to: an item of the context store, or why there is none. */
export type Written = { itemId: string | null } | { ignored: string };

export interface Recorded {
  row: EventRow;
  /** Its key was there before: nothing was written. */
  isDuplicate: boolean;
  firings: FiringRow[];
}

/**
 * Takes an event in, once: the line of the ledger, then what `write` makes of it in the context
 * store, then the triggers that it matches, all in the caller's action. The data policy is applied
 * before the first of them.
 */
export async function recordEvent(
  deps: HubDeps,
  tx: Tx,
  workspaceId: string,
  event: InboundEvent,
  write: (kept: KeptEvent) => Promise<Written>,
): Promise<Recorded> {
  const kept = keepEvent(await readDataPolicy(tx, workspaceId), event);
  const row = rowOf(tx, workspaceId, deps.ids('integrationEvent'), { event, kept });
  if (!(await insertEvent(deps.database, tx, row))) {
    const first = await readEventByKey(tx, workspaceId, event.keyHash);
    assert(first !== undefined, 'an event that was in the way is there');
    return { row: first, isDuplicate: true, firings: [] };
  }
  const written = await write(kept);
  let firings: FiringRow[] = [];
  let unmatched: UnmatchedTrigger[] = [];
  if ('ignored' in written) {
    Object.assign(row, { status: 'ignored', ignored_reason: written.ignored });
  } else {
    row.context_item_id = written.itemId;
    const seen = viewArrived(event, row);
    const evaluation = { workspaceId, eventId: row.event_id, replay: 0, seen };
    ({ firings, unmatched } = await fireForEvent(deps, tx, {
      ...evaluation,
      kept: viewKept(kept, row),
    }));
    row.unmatched = JSON.stringify(unmatched);
  }
  await updateEventResult(tx, row);
  return { row, isDuplicate: false, firings };
}

function rowOf(
  tx: Tx,
  workspaceId: string,
  eventId: string,
  { event, kept }: { event: InboundEvent; kept: KeptEvent },
): EventRow {
  return {
    workspace_id: workspaceId,
    event_id: eventId,
    key_hash: event.keyHash,
    channel: event.channel,
    source: kept.source,
    type: kept.type,
    status: 'accepted',
    ignored_reason: null,
    context_item_id: null,
    occurred_at: event.occurredAtMs ?? tx.nowMs,
    received_at: tx.nowMs,
    replays: 0,
    unmatched: '[]',
    forgotten_at: null,
    title: kept.title,
    actor: kept.actor,
    thread_ref: kept.threadRef,
    source_ref: kept.sourceRef,
    data: kept.data === null ? null : JSON.stringify(kept.data),
    extensions: JSON.stringify(kept.extensions),
    content: kept.content,
  };
}
