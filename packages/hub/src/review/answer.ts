import type { endpoints, RequestInput, ReviewComment } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { requireJobOfAgent } from '../jobs/require-job.ts';
import { requireClaim } from '../queue/leased-work.ts';
import { presentComment } from './present.ts';
import { readCommentByNumber, updateComment } from './store.ts';

type AnswerInput = RequestInput<typeof endpoints.reviewComments.answer.request>;

/**
 * Stores what the tool of a round says of a comment of its work; a later answer replaces it.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, COMMENT_NOT_FOUND, or a refusal of the claim
 */
export function answerComment(
  { database }: { database: Database },
  principal: Principal,
  input: AnswerInput,
): Promise<ReviewComment> {
  const { workspaceId, number, word, note } = input;
  return database.write(workspaceId, async (tx) => {
    const { entry, row: job } = await requireJobOfAgent(tx, principal, input);
    requireClaim(entry, input);
    const workJobId = job.work_job_id ?? job.job_id;
    const row = await readCommentByNumber(tx, workspaceId, workJobId, number);
    if (row === undefined) throw new HubError('COMMENT_NOT_FOUND');
    const answer = JSON.stringify({ word, note, answeredAt: timestampOf(tx.nowMs) });
    await updateComment(tx, row, { answer });
    return presentComment({ ...row, answer });
  });
}
