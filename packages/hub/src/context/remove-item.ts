import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { deleteContextItem } from './expire-items.ts';
import { requireItem } from './read-items.ts';

/**
 * Deletes an item for a client. The text of an upload stays as long as the upload: the hub extracts
 * it once, so the next upload of the same bytes would have none.
 *
 * @throws HubError CONTEXT_ITEM_NOT_FOUND, NOT_ALLOWED
 */
export function removeContextItem(
  { database }: { database: Database },
  principal: Principal,
  { workspaceId, itemId }: { workspaceId: string; itemId: string },
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    const { kind } = await requireItem(tx, workspaceId, itemId);
    if (kind === 'upload_extract') {
      throw new HubError(
        'NOT_ALLOWED',
        'This is the text of an upload: delete the upload instead.',
      );
    }
    await deleteContextItem(tx, workspaceId, itemId);
    const actor = principal.principalId;
    await appendAudit(tx, { workspaceId, actor, action: 'context-item.remove', subject: itemId });
  });
}
