import {
  COMMENTS_OF_WORK_CHARS_MAX,
  type endpoints,
  REVIEW_COMMENTS_MAX,
  type RequestInput,
  type ReviewComment,
} from '@signalbox/contract';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { type JobRecord, requireJob } from '../jobs/require-job.ts';
import { readRounds } from '../jobs/store-rounds.ts';
import { asObject } from '../queue/matching.ts';
import type { UploadDeps } from '../uploads/deps.ts';
import { readPatch } from '../uploads/read-patch.ts';
import { contradicts } from './patch-lines.ts';
import { presentComment } from './present.ts';
import { requireComment, requireDraft } from './require-comment.ts';
import { type CommentRow, measureComments, updateComment } from './store.ts';

type SaveInput = RequestInput<typeof endpoints.reviewComments.save.request>;
type Place = NonNullable<SaveInput['place']>;

/** Rounds after a job that were canceled, and one that was not. */
const ROUNDS_READ_MAX = 100;

/**
 * Writes a draft of a comment on lines of the result of a job, or changes the text of one.
 *
 * @throws HubError JOB_NOT_FOUND, COMMENT_NOT_FOUND, NOT_ALLOWED, INVALID_REQUEST, LIMIT_REACHED,
 *   IDEMPOTENCY_CONFLICT
 */
export async function saveComment(
  deps: UploadDeps,
  principal: Principal,
  input: SaveInput,
): Promise<{ comment: ReviewComment; idempotent?: boolean }> {
  const { workspaceId, place } = input;
  // An action awaits nothing but its statements, and the patch of a job that has ended stays.
  if (place !== undefined) await requireLines(deps, input, place);
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { operation: 'reviewCommentsSave', principal, input }, async () => {
      const record = await requireJob(tx, workspaceId, input.jobId);
      const row =
        input.commentId === undefined
          ? await addDraft(deps, tx, principal, record, input)
          : await changeDraft(tx, principal, record, input, input.commentId);
      return { comment: presentComment(row) };
    }),
  );
}

/** @throws HubError JOB_NOT_FOUND, INVALID_REQUEST: the lines are not those of the patch. */
async function requireLines(deps: UploadDeps, input: SaveInput, place: Place): Promise<void> {
  const { startLine, endLine, lines } = place;
  const count = endLine - startLine + 1;
  if (count < 1) throw invalidField('/place/endLine', 'must not be before startLine');
  if (lines.split('\n').length !== count) {
    const asked = count === 1 ? 'the one line' : `the ${count} lines`;
    throw invalidField('/place/lines', `must be ${asked} from startLine to endLine`);
  }
  const { patch } = await readPatch(deps, input);
  if (patch === null || !contradicts(patch, place)) return;
  throw invalidField('/place/lines', 'are not the text of these lines in the patch of the job');
}

async function addDraft(
  deps: UploadDeps,
  tx: Tx,
  principal: Principal,
  record: JobRecord,
  input: SaveInput,
): Promise<CommentRow> {
  const { workspaceId, text } = input;
  const { job_id, work_job_id } = record.row;
  const workJobId = work_job_id ?? job_id;
  const { commitSha, baseSha } = await requireResult(tx, record);
  const first = await findFirst(tx, workJobId, input);
  const place = first ?? input.place;
  if (place === undefined) throw invalidField('/place', 'is needed without repliesTo');
  const chars = place.lines.length + text.length;
  await requireRoom(tx, workspaceId, workJobId, { comments: 1, chars });
  const { path, side, startLine, endLine, lines } = place;
  const ofSide = side === 'base' ? baseSha : commitSha;
  const row: CommentRow = {
    workspace_id: workspaceId,
    comment_id: deps.ids('comment'),
    work_job_id: workJobId,
    job_id,
    number: null,
    replies_to: input.repliesTo ?? null,
    path,
    side,
    start_line: startLine,
    end_line: endLine,
    lines,
    text,
    commit_sha: first === null ? ofSide : first.commitSha,
    author_id: principal.principalId,
    author_name: principal.displayName,
    created_at: tx.nowMs,
    updated_at: tx.nowMs,
    sent_in_job_id: null,
    answer: null,
    fate: null,
    resolved_at: null,
    resolved_by_id: null,
    resolved_by_name: null,
  };
  insertRow(tx, 'review_comments', row);
  return row;
}

/** @throws HubError INVALID_REQUEST: there is no result to comment on, or a later one. */
async function requireResult(
  tx: Tx,
  { entry, row }: JobRecord,
): Promise<{ commitSha: string; baseSha: string | null }> {
  if (entry.status !== 'done' && entry.status !== 'failed') {
    const why = entry.status === 'canceled' ? 'was canceled' : 'has not ended';
    const way = entry.status === 'canceled' ? 'comment on the round before' : 'wait for its result';
    throw new HubError('INVALID_REQUEST', `The job ${why}: ${way}.`);
  }
  const { workspace_id, job_id, work_job_id } = row;
  const rounds = await readRounds(tx, workspace_id, work_job_id ?? job_id, ROUNDS_READ_MAX);
  const later = rounds.find(({ round, status }) => round > row.round && status !== 'canceled');
  if (later !== undefined) {
    const isOver = later.status === 'done' || later.status === 'failed';
    const way = isOver ? 'comment on its result' : 'wait for its result, and comment on that';
    const which = `round ${later.round}, ${later.job_id}`;
    throw new HubError('INVALID_REQUEST', `The job is continued by ${which}: ${way}.`);
  }
  const { commitSha, baseSha } = asObject(JSON.parse(row.evidence ?? 'null')) ?? {};
  if (!isSha(commitSha)) {
    const way = 'continue it with a message instead';
    throw new HubError('INVALID_REQUEST', `The job has no commit to comment on: ${way}.`);
  }
  return { commitSha, baseSha: isSha(baseSha) ? baseSha : null };
}

function isSha(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value);
}

/**
 * The place of the thread that is replied to.
 *
 * @throws HubError COMMENT_NOT_FOUND, INVALID_REQUEST
 */
async function findFirst(
  tx: Tx,
  workJobId: string,
  { workspaceId, repliesTo, place }: SaveInput,
): Promise<(Place & { commitSha: string | null }) | null> {
  if (repliesTo === undefined) return null;
  if (place !== undefined) {
    throw invalidField('/place', 'is that of the thread: leave it out with repliesTo');
  }
  const first = await requireComment(tx, workspaceId, repliesTo);
  if (first.work_job_id !== workJobId) throw new HubError('COMMENT_NOT_FOUND');
  if (first.replies_to !== null) {
    throw invalidField('/repliesTo', 'must be the first comment of a thread');
  }
  if (first.number === null) {
    throw invalidField('/repliesTo', 'must be a comment that was sent: change the draft instead');
  }
  const { path, side, start_line: startLine, end_line: endLine, lines, commit_sha } = first;
  return { path, side, startLine, endLine, lines, commitSha: commit_sha };
}

async function requireRoom(
  tx: Tx,
  workspaceId: string,
  workJobId: string,
  added: { comments: number; chars: number },
): Promise<void> {
  const { count, chars } = await measureComments(tx, workspaceId, workJobId);
  const hasRoom = count + added.comments <= REVIEW_COMMENTS_MAX;
  if (hasRoom && chars + added.chars <= COMMENTS_OF_WORK_CHARS_MAX) return;
  const limit = `${REVIEW_COMMENTS_MAX} comments, with ${COMMENTS_OF_WORK_CHARS_MAX} characters`;
  throw new HubError(
    'LIMIT_REACHED',
    `A piece of work has at most ${limit} together: remove drafts, or enqueue a new job.`,
  );
}

async function changeDraft(
  tx: Tx,
  { principalId }: Principal,
  { row: job }: JobRecord,
  { workspaceId, text, place, repliesTo }: SaveInput,
  commentId: string,
): Promise<CommentRow> {
  if (place !== undefined || repliesTo !== undefined) {
    const field = place === undefined ? '/repliesTo' : '/place';
    throw invalidField(field, 'stays as it is: leave it out with commentId');
  }
  const row = await requireComment(tx, workspaceId, commentId);
  if (row.work_job_id !== (job.work_job_id ?? job.job_id)) throw new HubError('COMMENT_NOT_FOUND');
  requireDraft(row);
  if (row.author_id !== principalId) {
    throw new HubError('NOT_ALLOWED', 'Only its author may change a draft: write one of your own.');
  }
  const changed = { ...row, text, updated_at: tx.nowMs };
  const chars = text.length - row.text.length;
  await requireRoom(tx, workspaceId, row.work_job_id, { comments: 0, chars });
  await updateComment(tx, row, { text, updated_at: tx.nowMs });
  return changed;
}
