import { forgetOldContext } from '../context/add-item.ts';
import { NO_WORKSPACE } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import { IDEMPOTENCY_KEPT_MS } from '../idempotency/answer-once.ts';
import { deleteFiringsOf, deleteOldSlots } from '../triggers/store-firings.ts';
import { listRetainingWorkspaces } from '../workspaces/store.ts';
import { deleteEvent, forgetOldEvents, listOldEventIds } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** What is said of unmapped chat teams, and of slots of schedules. */
const OWN_RETENTION_DAYS = 90;

export interface RetentionResult {
  /** Context items that are gone. */
  items: number;
  /** Events without content from now on. */
  forgotten: number;
  /** Events that are gone, their keys with them. */
  events: number;
  slots: number;
  hasMore: boolean;
}

/**
 * Takes away content past the retention of its workspace, a batch of each kind per workspace: of
 * context items from outside all, of events first the content and then, when their keys have been
 * kept as long as the contract says, the line itself.
 */
export async function forgetExpiredContent(
  { database }: Pick<HubDeps, 'database'>,
  limit: number,
): Promise<RetentionResult> {
  const total: RetentionResult = { items: 0, forgotten: 0, events: 0, slots: 0, hasMore: false };
  const workspaces = await listRetainingWorkspaces(database.reader);
  const all = [...workspaces, { workspaceId: NO_WORKSPACE, retentionDays: OWN_RETENTION_DAYS }];
  for (const { workspaceId, retentionDays } of all) {
    const part = await database.write(workspaceId, async (tx) => {
      const beforeMs = tx.nowMs - retentionDays * DAY_MS;
      const age = { workspaceId, beforeMs, limit };
      const eventIds = await listOldEventIds(tx, {
        ...age,
        beforeMs: Math.min(beforeMs, tx.nowMs - IDEMPOTENCY_KEPT_MS),
      });
      await deleteFiringsOf(tx, workspaceId, eventIds);
      for (const eventId of eventIds) await deleteEvent(tx, workspaceId, eventId);
      return {
        items: await forgetOldContext(tx, age),
        forgotten: await forgetOldEvents(tx, age),
        events: eventIds.length,
      };
    });
    total.items += part.items;
    total.forgotten += part.forgotten;
    total.events += part.events;
    total.hasMore ||= Object.values(part).includes(limit);
  }
  total.slots = await database.write(NO_WORKSPACE, (tx) =>
    deleteOldSlots(tx, tx.nowMs - OWN_RETENTION_DAYS * DAY_MS, limit),
  );
  total.hasMore ||= total.slots === limit;
  return total;
}
