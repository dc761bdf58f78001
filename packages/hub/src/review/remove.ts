import { requireAct } from '../access/require-act.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { requireComment, requireDraft } from './require-comment.ts';
import { deleteComment } from './store.ts';

/**
 * Removes a draft, for its author and for owners.
 *
 * @throws HubError COMMENT_NOT_FOUND, NOT_ALLOWED, INVALID_REQUEST
 */
export function removeComment(
  { database }: { database: Database },
  principal: Principal,
  { workspaceId, commentId }: { workspaceId: string; commentId: string },
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    const row = await requireComment(tx, workspaceId, commentId);
    requireDraft(row);
    if (row.author_id !== principal.principalId) {
      if (principal.personId === null) {
        throw new HubError('NOT_ALLOWED', 'Only its author and owners may remove a draft.');
      }
      await requireAct(tx, principal, workspaceId, 'review-comment.remove');
    }
    await deleteComment(tx, row);
  });
}
