import type { ContextItem, ContextItemKind, ContextItemSummary } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { excerptOf } from './search/excerpt.ts';
import type { ContextItemHead, ContextItemRow } from './store.ts';

export function presentItem(row: ContextItemRow): ContextItem {
  return { ...presentHead(row), text: row.text };
}

/** @param excerpt the part of the text to show. Default: its beginning. */
export function presentSummary(
  row: ContextItemHead,
  excerpt: string = excerptOf(row.beginning),
): ContextItemSummary {
  return { ...presentHead(row), excerpt };
}

function presentHead(row: Omit<ContextItemRow, 'text'>) {
  return {
    itemId: row.item_id,
    workspaceId: row.workspace_id,
    // Only kinds of the contract are written.
    kind: row.kind as ContextItemKind,
    title: row.title,
    source: row.source,
    sourceRef: row.source_ref,
    threadRef: row.thread_ref,
    trust: row.trust,
    pinned: row.pinned === 1,
    contentHash: row.content_hash,
    occurredAt: timestampOf(row.occurred_at),
    supersededBy: row.superseded_by,
    validFrom: nullableTimestampOf(row.valid_from),
    validTo: nullableTimestampOf(row.valid_to),
  };
}
