import type { ReviewComment } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import type { CommentRow } from './store.ts';

/** Parses a JSON column, whose value passed the contract's schema when it was written. */
function parseColumn<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

export function presentComment(row: CommentRow): ReviewComment {
  const isResolved = row.resolved_at !== null && row.resolved_by_id !== null;
  return {
    commentId: row.comment_id,
    jobId: row.job_id,
    number: row.number,
    repliesTo: row.replies_to,
    path: row.path,
    side: row.side,
    startLine: row.start_line,
    endLine: row.end_line,
    commitSha: row.commit_sha,
    lines: row.lines,
    text: row.text,
    author: { id: row.author_id, name: row.author_name },
    createdAt: timestampOf(row.created_at),
    updatedAt: timestampOf(row.updated_at),
    sentInJobId: row.sent_in_job_id,
    answer: parseColumn<ReviewComment['answer']>(row.answer),
    fate: parseColumn<ReviewComment['fate']>(row.fate),
    resolvedAt: nullableTimestampOf(row.resolved_at),
    resolvedBy: isResolved ? { id: row.resolved_by_id ?? '', name: row.resolved_by_name } : null,
  };
}
