import { expireContextItems } from '../context/expire-items.ts';
import { NO_WORKSPACE } from '../db/engine.ts';
import { deleteRows } from '../db/row-write.ts';
import { IDEMPOTENCY_KEPT_MS } from '../idempotency/answer-once.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { deleteFiringsOf, deleteOldSlots } from '../triggers/store-firings.ts';
import { listRetainingWorkspaces } from '../workspaces/store.ts';
import { deleteOldEventContent, listOldEventIds } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Retention of events from unmapped chat teams, and of firings of schedules. */
const HUB_RETENTION_DAYS = 90;

export interface ContentRetentionResult {
  /** Context items that were deleted. */
  items: number;
  /** Events whose content was deleted. */
  contents: number;
  /** Events that were deleted, with their keys. */
  events: number;
  /** Firings of schedules that were deleted. */
  slots: number;
  hasMore: boolean;
}

/**
 * Deletes content past the retention of its workspace, a batch of each kind per workspace. Context
 * items from outside are deleted whole. Of an event, the content is deleted first; its row is
 * deleted when its key has been kept for as long as the contract says.
 */
export async function expireContent(
  { database }: Pick<HubDeps, 'database'>,
  limit: number,
): Promise<ContentRetentionResult> {
  const total = { items: 0, contents: 0, events: 0, slots: 0, hasMore: false };
  const workspaces = await listRetainingWorkspaces(database.reader);
  const all = [...workspaces, { workspaceId: NO_WORKSPACE, retentionDays: HUB_RETENTION_DAYS }];
  for (const { workspaceId, retentionDays } of all) {
    const part = await database.write(workspaceId, async (tx) => {
      const beforeMs = tx.nowMs - retentionDays * DAY_MS;
      const age = { workspaceId, beforeMs, limit };
      const eventIds = await listOldEventIds(tx, {
        ...age,
        beforeMs: Math.min(beforeMs, tx.nowMs - IDEMPOTENCY_KEPT_MS),
      });
      await deleteFiringsOf(tx, workspaceId, eventIds);
      await deleteRows(tx, 'integration_events', { workspace_id: workspaceId, event_id: eventIds });
      return {
        items: await expireContextItems(tx, age),
        contents: await deleteOldEventContent(tx, age),
        events: eventIds.length,
      };
    });
    total.items += part.items;
    total.contents += part.contents;
    total.events += part.events;
    total.hasMore ||= Object.values(part).includes(limit);
  }
  total.slots = await database.write(NO_WORKSPACE, (tx) =>
    deleteOldSlots(tx, tx.nowMs - HUB_RETENTION_DAYS * DAY_MS, limit),
  );
  total.hasMore ||= total.slots === limit;
  return total;
}
