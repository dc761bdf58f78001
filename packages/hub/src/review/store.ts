import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { ReviewCommentsTable } from '../db/schema/review.ts';

export type CommentRow = ReviewCommentsTable;

/** The comments of a piece of work, oldest first. */
export function listComments(
  reader: Reader,
  workspaceId: string,
  workJobId: string,
): Promise<CommentRow[]> {
  return reader.allSql<CommentRow>(
    `SELECT ${allColumns.review_comments} FROM review_comments
     WHERE workspace_id = ? AND work_job_id = ? ORDER BY comment_id`,
    [workspaceId, workJobId],
  );
}

export function readComment(
  reader: Reader,
  workspaceId: string,
  commentId: string,
): Promise<CommentRow | undefined> {
  return reader.firstSql<CommentRow>(
    `SELECT ${allColumns.review_comments} FROM review_comments
     WHERE workspace_id = ? AND comment_id = ?`,
    [workspaceId, commentId],
  );
}

export function readCommentByNumber(
  reader: Reader,
  workspaceId: string,
  workJobId: string,
  number: number,
): Promise<CommentRow | undefined> {
  return reader.firstSql<CommentRow>(
    `SELECT ${allColumns.review_comments} FROM review_comments
     WHERE workspace_id = ? AND work_job_id = ? AND number = ?`,
    [workspaceId, workJobId, number],
  );
}

/** How many comments a piece of work has, and the characters of their lines and texts. */
export async function measureComments(
  reader: Reader,
  workspaceId: string,
  workJobId: string,
): Promise<{ count: number; chars: number }> {
  const row = await reader.firstSql<{ count: number; chars: number }>(
    `SELECT COUNT(*) AS count, COALESCE(SUM(LENGTH(lines) + LENGTH(text)), 0) AS chars
     FROM review_comments WHERE workspace_id = ? AND work_job_id = ?`,
    [workspaceId, workJobId],
  );
  return row ?? { count: 0, chars: 0 };
}

export async function updateComment(
  tx: Tx,
  { workspace_id, work_job_id, comment_id }: CommentRow,
  set: Partial<CommentRow>,
): Promise<void> {
  await updateRows(tx, 'review_comments', { workspace_id, work_job_id, comment_id }, set);
}

export async function deleteComment(
  tx: Tx,
  { workspace_id, work_job_id, comment_id }: CommentRow,
): Promise<void> {
  await deleteRows(tx, 'review_comments', { workspace_id, work_job_id, comment_id });
}

/** Deletes the comments on the results of jobs, and the replies to them. */
export async function deleteComments(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  const ofJobs = 'job_id IN (SELECT value FROM json_each(?))';
  const isReply = sql(
    `replies_to IN (SELECT comment_id FROM review_comments WHERE workspace_id = ? AND ${ofJobs})`,
    ...[workspaceId, JSON.stringify(jobIds)],
  );
  await deleteRows(tx, 'review_comments', { workspace_id: workspaceId, also: isReply });
  await deleteRows(tx, 'review_comments', { workspace_id: workspaceId, job_id: jobIds });
}

/** How many threads of a work were sent and are not resolved. The `countOpenThreads` hook. */
export async function countOpenThreads(
  reader: Reader,
  workspaceId: string,
  workJobId: string,
): Promise<number> {
  const row = await reader.firstSql<{ count: number }>(
    `SELECT COUNT(*) AS count FROM review_comments WHERE workspace_id = ? AND work_job_id = ?
       AND number IS NOT NULL AND replies_to IS NULL AND resolved_at IS NULL`,
    [workspaceId, workJobId],
  );
  return row?.count ?? 0;
}
