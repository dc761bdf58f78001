import { HubError } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { type CommentRow, readComment } from './store.ts';

/** @throws HubError COMMENT_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireComment(
  reader: Reader,
  workspaceId: string,
  commentId: string,
): Promise<CommentRow> {
  const row = await readComment(reader, workspaceId, commentId);
  if (row === undefined) throw new HubError('COMMENT_NOT_FOUND');
  return row;
}

/** @throws HubError INVALID_REQUEST: the comment was sent. */
export function requireDraft({ number }: CommentRow): void {
  if (number === null) return;
  throw new HubError(
    'INVALID_REQUEST',
    `Comment ${number} was sent, and stays as it is: write a reply, or resolve it.`,
  );
}
