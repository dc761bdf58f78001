import type { Tx } from '../db/engine.ts';
import { deleteRows } from '../db/row-write.ts';
import { SUMMARY_SOURCE } from './add-item.ts';
import { unindexItem } from './search/search.ts';
import { listOldItemIds, readItemBySource } from './store.ts';

/** Kinds that come from outside and fall under `retentionDays`. What people wrote stays. */
const expiringKinds = ['event', 'chat_message', 'mail_message'] as const;

/**
 * Deletes items from outside that are past their workspace's retention, with their copies in packs:
 * retention holds for snapshots too. For the retention loop.
 *
 * @returns how many items were deleted. As many as `limit` means that there may be more.
 */
export async function expireContextItems(
  tx: Tx,
  age: { workspaceId: string; beforeMs: number; limit: number },
): Promise<number> {
  const { workspaceId } = age;
  const itemIds = await listOldItemIds(tx, workspaceId, { ...age, kinds: expiringKinds });
  for (const itemId of itemIds) await deleteContextItem(tx, workspaceId, itemId);
  return itemIds.length;
}

/** Deletes an item, its copies in packs, and its summary. */
export async function deleteContextItem(
  tx: Tx,
  workspaceId: string,
  itemId: string,
): Promise<void> {
  const summary = await readItemBySource(tx, workspaceId, SUMMARY_SOURCE, itemId);
  const itemIds = summary === undefined ? [itemId] : [itemId, summary.item_id];
  for (const id of itemIds) {
    await unindexItem(tx, workspaceId, id);
    const item = { workspace_id: workspaceId, item_id: id };
    await deleteRows(tx, 'context_items', item);
    await deleteRows(tx, 'context_pack_items', item);
  }
}
