import type { ReviewComment } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { presentComment } from './present.ts';
import { requireComment } from './require-comment.ts';
import { updateComment } from './store.ts';

/**
 * Resolves the thread of a comment, or opens it again. Who resolved it first stays.
 *
 * @throws HubError COMMENT_NOT_FOUND, INVALID_REQUEST
 */
export function resolveComment(
  { database }: { database: Database },
  { principalId, displayName }: Principal,
  {
    workspaceId,
    commentId,
    isResolved,
  }: { workspaceId: string; commentId: string; isResolved: boolean },
): Promise<ReviewComment> {
  return database.write(workspaceId, async (tx) => {
    const row = await requireComment(tx, workspaceId, commentId);
    if (row.number === null) {
      throw new HubError('INVALID_REQUEST', 'The comment is a draft: send it, or remove it.');
    }
    if (row.replies_to !== null) {
      throw new HubError('INVALID_REQUEST', 'Name the first comment of the thread.');
    }
    if ((row.resolved_at !== null) === isResolved) return presentComment(row);
    const set = isResolved
      ? { resolved_at: tx.nowMs, resolved_by_id: principalId, resolved_by_name: displayName }
      : { resolved_at: null, resolved_by_id: null, resolved_by_name: null };
    await updateComment(tx, row, set);
    return presentComment({ ...row, ...set });
  });
}
