import { COMMENTS_SENT_CHARS_MAX } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import type { JobKey } from '../start/hooks.ts';
import { listComments, updateComment } from './store.ts';

/**
 * Numbers drafts, and sends them with a new round of their work. The `sendComments` hook.
 *
 * @throws HubError COMMENT_NOT_FOUND, INVALID_REQUEST, LIMIT_REACHED
 */
export async function sendComments(
  tx: Tx,
  { workspaceId, jobId, workJobId }: JobKey & { workJobId: string },
  commentIds: readonly string[],
): Promise<void> {
  const comments = await listComments(tx, workspaceId, workJobId);
  const asked = new Set(commentIds);
  const sent = comments.filter(({ comment_id }) => asked.has(comment_id));
  if (sent.length < asked.size) {
    const what = asked.size === 1 ? 'The draft' : 'A draft';
    throw new HubError(
      'COMMENT_NOT_FOUND',
      `${what} was removed, or is of other work: look at the comments again, then send them.`,
    );
  }
  const known = sent.find(({ number }) => number !== null);
  if (known !== undefined) {
    throw new HubError(
      'INVALID_REQUEST',
      `A draft was sent already, as comment ${known.number}: look at the comments again, then ` +
        'send the others.',
    );
  }
  const chars = sent.reduce((sum, { lines, text }) => sum + lines.length + text.length, 0);
  if (chars > COMMENTS_SENT_CHARS_MAX) {
    const limit = `${COMMENTS_SENT_CHARS_MAX} characters with their lines`;
    throw new HubError('LIMIT_REACHED', `The comments have more than ${limit}: send fewer.`);
  }
  let last = Math.max(0, ...comments.map(({ number }) => number ?? 0));
  for (const row of sent) {
    last += 1;
    await updateComment(tx, row, { number: last, sent_in_job_id: jobId });
  }
}
