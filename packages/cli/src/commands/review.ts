import { randomUUID } from 'node:crypto';
import type { Job, ReviewComment } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { editText } from '../terminal/editor.ts';
import { type Io, stylesOf } from '../terminal/io.ts';
import { shortId } from '../words/job-text.ts';
import { readEvidence } from '../words/landing-text.ts';
import { commentLines, placeText } from '../words/review-text.ts';
import { askGit, type Clone, openClone, runGit } from '../work/clone-git.ts';
import {
  type CommentPlace,
  diffToEdit,
  type QuotedThread,
  readDiffComments,
  type WrittenDraft,
} from '../work/review-diff.ts';

interface Options {
  comment?: string;
  base?: true;
  editor?: true;
  send?: true;
  reply?: string;
  resolve?: string;
  reopen?: string;
}

/** A review is of the latest round of the work. */
interface Review {
  io: Io;
  session: HubSession;
  job: Job;
  comments: readonly ReviewComment[];
}

/**
 * `signalbox review JOB`: shows the review comments of a piece of work, with the fates of their
 * lines. `--comment`, `--reply` and `--editor` write drafts, `--send` sends all drafts with the
 * next round, `--resolve` closes a thread, and `--reopen` opens it again. With `--json`: the
 * comments, those that were written, or the job.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('<job>', 'any job of the work, by its ID or the end of it')
      .argument('[text]', 'the text of the comment, or the message of the round')
      .option('--comment <place>', 'write a draft on these lines: FILE:LINE or FILE:LINE-LINE')
      .option('--base', 'the lines are those before the work')
      .option('--reply <number>', 'write a draft in the thread of this comment')
      .option('--editor', 'write drafts in $EDITOR, below lines of the diff and open threads')
      .option('--send', 'send all drafts with the next round')
      .option('--resolve <number>', 'close the thread of this comment')
      .option('--reopen <number>', 'open the thread of this comment again');
  },

  examples: [
    ['signalbox review 8f3a1c2d', 'the comments, and their fates'],
    ['signalbox review 8f3a1c2d --comment src/a.ts:12-14 "Why?"', 'a draft on three lines'],
    ['signalbox review 8f3a1c2d --reply 1 "In cents."', 'a draft in the thread of comment 1'],
    ['signalbox review 8f3a1c2d --send', 'the agent gets all drafts'],
  ],

  check(options, [, text]) {
    const { comment, reply, editor, send, resolve, reopen } = options;
    const acts = [comment, reply, editor, send, resolve, reopen];
    if (acts.filter((act) => act !== undefined).length > 1) {
      throw usage(
        '--comment, --reply, --editor, --send, --resolve and --reopen are one at a time.',
      );
    }
    if (text !== undefined && comment === undefined && reply === undefined && !send) {
      throw usage('A text needs --comment FILE:LINE, --reply NUMBER, or --send.');
    }
  },

  async run({ io, args: [reference = '', text], options, session }) {
    const { comment, reply, editor, send, resolve, reopen } = options;
    const review = await openReview(io, session, reference);
    if (comment !== undefined) await writeComment(review, comment, text, options);
    else if (reply !== undefined) await writeReply(review, reply, text);
    else if (editor) await writeInEditor(review);
    else if (send) await sendDrafts(review, text);
    else if (resolve !== undefined) await resolveThread(review, resolve, true);
    else if (reopen !== undefined) await resolveThread(review, reopen, false);
    else printComments(review);
  },
});

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, 'USAGE', message);
}

async function openReview(io: Io, session: HubSession, reference: string): Promise<Review> {
  const { client, workspaceId } = session;
  const named = await findJobId(session, reference);
  const { rounds = [] } = await client.jobs.get({ workspaceId, jobId: named });
  const latest = rounds.findLast(({ status }) => status !== 'canceled');
  const jobId = latest?.jobId ?? named;
  const { job } = await client.jobs.get({ workspaceId, jobId });
  const { comments } = await client.reviewComments.list({ workspaceId, jobId });
  return { io, session, job, comments };
}

function printComments({ io, job, comments }: Review): void {
  if (io.json) {
    io.printJson({ ok: true, jobId: job.jobId, comments });
    return;
  }
  const id = shortId(job.jobId);
  if (comments.length === 0) {
    io.print('This work has no review comments.');
    io.print(io.styles.dim(asTyped(`  signalbox review ${id} --comment FILE:LINE "…"`)));
    return;
  }
  for (const comment of threadsOf(comments).flat()) {
    for (const line of commentLines(io.styles, comment)) io.print(line);
  }
  const drafts = draftsOf(comments).length;
  if (drafts > 0) io.print(io.styles.dim(asTyped(`Send them: signalbox review ${id} --send`)));
}

/** The first comment of each thread, with its replies. */
function threadsOf(comments: readonly ReviewComment[]): [ReviewComment, ...ReviewComment[]][] {
  const firsts = comments.filter(({ repliesTo }) => repliesTo === null);
  return firsts.map((first) => [
    first,
    ...comments.filter(({ repliesTo }) => repliesTo === first.commentId),
  ]);
}

function draftsOf(comments: readonly ReviewComment[]): ReviewComment[] {
  return comments.filter(({ number }) => number === null);
}

async function writeComment(
  review: Review,
  given: string,
  text: string | undefined,
  { base }: Options,
): Promise<void> {
  const [, path = '', first, last = first] = /^(.+):(\d+)(?:-(\d+))?$/.exec(given) ?? [];
  const [startLine, endLine] = [Number(first), Number(last)];
  if (path === '' || startLine < 1 || endLine < startLine) {
    throw usage('--comment must be FILE:LINE or FILE:LINE-LINE, such as src/a.ts:12-14.');
  }
  if (text === undefined || text.trim() === '') {
    throw usage('The text of the comment is missing: give it after the place.');
  }
  const clone = await openClone(review.io);
  const { baseSha, commitSha } = await requireCommits(review, clone);
  const side = base ? 'base' : 'result';
  const sha = base ? baseSha : commitSha;
  const lines = await readLines(clone, sha, { path, startLine, endLine });
  await saveDrafts(review, [{ place: { path, side, startLine, endLine, lines }, text }]);
}

async function writeReply(review: Review, given: string, text: string | undefined): Promise<void> {
  const [first] = findThread(review, given);
  if (text === undefined || text.trim() === '') {
    throw usage('The text of the reply is missing: give it after the number.');
  }
  if (first.resolvedAt !== null) {
    const fix = `Open it first: signalbox review ${shortId(review.job.jobId)} --reopen ${given}`;
    const message = `The thread of comment ${given} is resolved, and rounds get open threads only.`;
    throw new CliError(exitCodes.usage, 'THREAD_RESOLVED', message, { fix });
  }
  await saveDrafts(review, [{ repliesTo: first.commentId, text }]);
}

/** @throws {CliError} COMMENT_NOT_FOUND: no comment that was sent has this number. */
function findThread({ job, comments }: Review, given: string) {
  const number = Number(given.replace(/^#/, ''));
  const thread = threadsOf(comments).find((each) =>
    each.some((comment) => comment.number !== null && comment.number === number),
  );
  if (thread !== undefined) return thread;
  const fix = `List them: signalbox review ${shortId(job.jobId)}`;
  const message = `There is no comment ${given}.`;
  throw new CliError(exitCodes.usage, 'COMMENT_NOT_FOUND', message, { fix });
}

/** @throws {CliError} JOB_NOT_ENDED, COMMIT_MISSING: the job has none, or this clone has not. */
async function requireCommits({ job }: Review, clone: Clone) {
  const id = shortId(job.jobId);
  if (job.status !== 'done' && job.status !== 'failed') {
    const message = `Job ${id} has not ended: comment on its result.`;
    const fix = `Wait for it: signalbox job ${id} --follow`;
    throw new CliError(exitCodes.failed, 'JOB_NOT_ENDED', message, { fix });
  }
  const commitSha = job.evidence?.commitSha;
  const { baseSha } = readEvidence(job.evidence);
  if (!isSha(commitSha) || !isSha(baseSha)) {
    const fix = `Continue it with a message: signalbox job continue ${id} "…"`;
    const message = `Job ${id} has no commit to comment on.`;
    throw new CliError(exitCodes.failed, 'COMMIT_MISSING', message, { fix });
  }
  for (const sha of [commitSha, baseSha]) {
    if ((await askGit(clone, ['cat-file', '-e', `${sha}^{commit}`])) !== null) continue;
    const message = `The commit ${sha.slice(0, 12)} of job ${id} is not in this clone.`;
    const fix = 'Get it with: git fetch';
    throw new CliError(exitCodes.failed, 'COMMIT_MISSING', message, { fix });
  }
  return { commitSha, baseSha };
}

/** Evidence has any form, and git must not read it as an option. */
function isSha(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value);
}

/** @throws {CliError} FILE_NOT_FOUND, LINE_NOT_FOUND. */
async function readLines(
  clone: Clone,
  sha: string,
  { path, startLine, endLine }: Pick<CommentPlace, 'path' | 'startLine' | 'endLine'>,
): Promise<string> {
  const isThere = (await askGit(clone, ['cat-file', '-e', `${sha}:${path}`])) !== null;
  if (!isThere) {
    const message = `${path} is not in the commit ${sha.slice(0, 12)}.`;
    const fix = 'Give the path from the top of the clone, such as src/a.ts.';
    throw new CliError(exitCodes.usage, 'FILE_NOT_FOUND', message, { fix });
  }
  const text = await runGit(clone, ['cat-file', 'blob', `${sha}:${path}`]);
  const lines = text.replace(/\n$/, '').split('\n');
  if (endLine > lines.length) {
    const count = lines.length === 1 ? '1 line' : `${lines.length} lines`;
    throw new CliError(exitCodes.usage, 'LINE_NOT_FOUND', `${path} has ${count} there.`);
  }
  return lines.slice(startLine - 1, endLine).join('\n');
}

async function writeInEditor(review: Review): Promise<void> {
  const { io } = review;
  const clone = await openClone(io);
  const { baseSha, commitSha } = await requireCommits(review, clone);
  const plain = ['--no-color', '--no-ext-diff', '--src-prefix=a/', '--dst-prefix=b/'];
  const args = ['-c', 'core.quotePath=false', 'diff', '--find-renames', ...plain];
  const diff = await runGit(clone, [...args, baseSha, commitSha]);
  const toEdit = { threads: quoteThreads(review), diff };
  const edited = await editText(io, diffToEdit(toEdit), 'REVIEW.diff');
  try {
    const comments = readDiffComments(edited.text, toEdit);
    if (comments.length === 0) throw usage('No comment was written.');
    await saveDrafts(review, comments);
  } catch (error) {
    if (error instanceof CliError) io.note(`Your text is kept in ${edited.file}.`);
    throw error;
  }
  await edited.remove();
}

/** The open threads that were sent, as the listing shows them. */
function quoteThreads({ comments }: Review): QuotedThread[] {
  const open = threadsOf(comments).filter(
    ([{ number, resolvedAt }]) => number !== null && resolvedAt === null,
  );
  return open.map((thread) => ({
    repliesTo: thread[0].commentId,
    lines: thread.flatMap((comment) => commentLines(stylesOf(false), comment)),
  }));
}

async function saveDrafts(
  { io, session, job }: Review,
  drafts: readonly WrittenDraft[],
): Promise<void> {
  const { client, workspaceId } = session;
  const { jobId } = job;
  const saved: ReviewComment[] = [];
  for (const draft of drafts) {
    const { comment } = await client.reviewComments.save({
      workspaceId,
      jobId,
      ...draft,
      idempotencyKey: randomUUID(),
    });
    saved.push(comment);
    const what = comment.repliesTo === null ? 'Draft' : 'Draft of a reply';
    if (!io.json) io.print(`${io.styles.green('✔')} ${what} on ${placeText(comment)}`);
  }
  if (io.json) return io.printJson({ ok: true, comments: saved });
  io.print(io.styles.dim(asTyped(`  signalbox review ${shortId(jobId)} --send`)));
}

async function sendDrafts(
  { io, session, job, comments }: Review,
  message: string | undefined,
): Promise<void> {
  const { client, workspaceId } = session;
  const commentIds = draftsOf(comments).map(({ commentId }) => commentId);
  const id = shortId(job.jobId);
  if (commentIds.length === 0) {
    throw new CliError(exitCodes.usage, 'NOTHING_TO_SEND', 'This work has no drafts to send.', {
      fix: `Write one: signalbox review ${id} --comment FILE:LINE "…"`,
    });
  }
  const answer = await client.jobs.continue({
    workspaceId,
    jobId: job.jobId,
    commentIds,
    idempotencyKey: randomUUID(),
    message,
  });
  if (io.json) return io.printJson(answer);
  const count = commentIds.length === 1 ? '1 comment' : `${commentIds.length} comments`;
  const { round, jobId } = answer.job;
  io.print(`${io.styles.green('✔')} Sent ${count} with round ${round}: ${jobId}`);
  io.print(io.styles.dim(asTyped(`  signalbox job ${shortId(jobId)} --follow`)));
}

async function resolveThread(review: Review, given: string, isResolved: boolean): Promise<void> {
  const { io, session } = review;
  const { client, workspaceId } = session;
  const [{ commentId }] = findThread(review, given);
  const { comment } = await client.reviewComments.resolve({ workspaceId, commentId, isResolved });
  if (io.json) return io.printJson({ ok: true, comment });
  const what = isResolved ? 'Resolved comment' : 'Opened again: comment';
  io.print(`${io.styles.green('✔')} ${what} ${comment.number}.`);
}
