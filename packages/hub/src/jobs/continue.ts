import {
  type AnswerOf,
  type Attachment,
  type endpoints,
  JOB_MESSAGES_MAX,
  type Job,
  type JobMessage,
  type RequestInput,
  TEXT_CHARS_MAX,
} from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow, updateRows } from '../db/row-write.ts';
import type { JobMessagesTable } from '../db/schema/jobs.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { addJob, type Creator, creatorOf } from './enqueue.ts';
import { findPreference } from './preference.ts';
import { presentJob, presentMessage, takesMessages } from './present.ts';
import { refuseContinued, refuseLanding } from './refuse-continued.ts';
import { reopenWork } from './reopen-work.ts';
import { type JobRecord, requireJob } from './require-job.ts';
import { requirementsFor } from './retry.ts';
import type { JobRow } from './store.ts';
import { listMessages, listQueued, updateMessageCount } from './store-rounds.ts';

type ContinueInput = RequestInput<typeof endpoints.jobs.continue.request>;

/**
 * Enqueues the next round of a job that is done or failed, with its messages that are in no round
 * yet. A job that has not ended gets a message.
 *
 * @throws HubError JOB_NOT_FOUND, JOB_CANCELED, INVALID_REQUEST, IDEMPOTENCY_CONFLICT, and what
 *   `addJob` and `sendComments` throw.
 */
export function continueJob(
  deps: HubDeps,
  principal: Principal,
  input: ContinueInput,
): Promise<AnswerOf<typeof endpoints.jobs.continue>> {
  const { workspaceId } = input;
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { operation: 'jobsContinue', principal, input }, async () => {
      const record = await requireJob(tx, workspaceId, input.jobId);
      const { status } = record.entry;
      if (status === 'canceled') {
        const { continues_job_id: before } = record.row;
        const way = before === null ? 'enqueue a new job' : `continue the round before, ${before}`;
        throw new HubError('JOB_CANCELED', `The job was canceled: ${way}.`);
      }
      refuseLanding(record);
      const author = creatorOf(principal);
      requireContent(status, input);
      if (status !== 'done' && status !== 'failed') {
        const { row, message } = await addMessage(tx, record, author, input);
        const { entry } = record;
        const job = presentJob(entry, row);
        return { job, delivery: 'message', message, ...takesMessages(entry, row) };
      }
      const { entry, row } = await addRound(deps, tx, record, author, input);
      const data = { round: row.round, jobId: row.job_id };
      await appendAudit(tx, {
        workspaceId,
        actor: principal.principalId,
        action: 'job.continue',
        subject: input.jobId,
        data,
      });
      return { job: presentJob(entry, row), delivery: 'round' };
    }),
  );
}

function requireContent(
  status: JobRecord['entry']['status'],
  { message, commentIds }: ContinueInput,
): void {
  if (message === undefined && commentIds === undefined) {
    throw invalidField('/message', 'is needed without commentIds');
  }
  if (commentIds !== undefined && status !== 'done' && status !== 'failed') {
    const way = 'are for a job that has ended: wait for its end, or send a message without them';
    throw invalidField('/commentIds', way);
  }
}

/** Keeps a message for a job that has not ended. */
async function addMessage(
  tx: Tx,
  { row }: JobRecord,
  author: Creator,
  { message: text = '', tool, model }: ContinueInput,
): Promise<{ row: JobRow; message: JobMessage }> {
  if (tool !== undefined || model !== undefined) {
    const field = tool === undefined ? '/model' : '/tool';
    throw invalidField(field, 'is for a job that has ended: wait for its end, or leave it out');
  }
  const { workspace_id, job_id } = row;
  const known = await listMessages(tx, workspace_id, job_id);
  // Together they are one prompt: of the next round, or of a session that begins again.
  const told = [...known.filter(({ next_job_id }) => next_job_id === null), { text }];
  if (known.length >= JOB_MESSAGES_MAX || joinTexts(told).length > TEXT_CHARS_MAX) {
    const limit = `${JOB_MESSAGES_MAX} messages, with ${TEXT_CHARS_MAX} characters together`;
    throw new HubError('LIMIT_REACHED', `A job takes ${limit}: wait for its end.`);
  }
  const message: JobMessagesTable = {
    workspace_id,
    job_id,
    number: known.length + 1,
    text,
    created_at: tx.nowMs,
    author_id: author.id,
    author_name: author.name,
    delivered_at: null,
    next_job_id: null,
  };
  const changed = { ...row, message_count: message.number };
  insertRow(tx, 'job_messages', message);
  await updateMessageCount(tx, changed);
  return { row: changed, message: presentMessage(message) };
}

/**
 * Makes the messages of a job that is done its next round, but for those that its tool has got;
 * their first author is its creator. A round that is refused, such as in a run that is full, must
 * not cost the result of the job: its messages stay queued, and a person who continues the job
 * reads why.
 */
export async function continueWithMessages(
  deps: HookDeps,
  tx: Tx,
  record: JobRecord,
): Promise<void> {
  const [first] = await listQueued(tx, record.row);
  if (first === undefined) return;
  const author = { id: first.author_id, name: first.author_name };
  try {
    await addRound(deps, tx, record, author, {});
  } catch (error) {
    // A refusal comes before the first write.
    if (!(error instanceof HubError)) throw error;
  }
}

function joinTexts(messages: readonly { text: string }[]): string {
  return messages.map(({ text }) => text).join('\n\n');
}

/** The wishes of a person for the next round; the rest is as before. */
type RoundWish = Partial<Pick<ContinueInput, 'message' | 'commentIds' | 'tool' | 'model'>>;

async function addRound(
  deps: HookDeps,
  tx: Tx,
  before: JobRecord,
  author: Creator,
  { message, commentIds = [], tool, model }: RoundWish,
): Promise<JobRecord> {
  const { entry, row } = before;
  const round = await refuseContinued(tx, before);
  await reopenWork(tx, before);
  const { workspace_id: workspaceId, job_id: jobId } = row;
  const queued = await listQueued(tx, row);
  const comments = [...new Set(commentIds)];
  const said = joinTexts(message === undefined ? queued : [...queued, { text: message }]);
  const prompt = said === '' ? countComments(comments.length) : said;
  if (prompt.length > TEXT_CHARS_MAX) {
    const why = `With the messages to the job before, it has more than ${TEXT_CHARS_MAX} characters`;
    throw new HubError('LIMIT_REACHED', `${why}: write less.`);
  }
  const draft = {
    workspaceId,
    repoId: row.repo_id,
    kind: row.kind as Job['kind'],
    role: row.role,
    prompt,
    ...requirementsOf(row.requirements, { tool, model }),
    priority: entry.priority,
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    // The number of the work, without what was added for attempts that did not count.
    maxAttempts: Math.max(1, Math.min(entry.attempts_max, 100)),
    delayMs: 0,
    dependsOn: [],
    ...(row.budget === null ? {} : { budget: JSON.parse(row.budget) }),
    // The messages may still be about them, and another agent may not have them.
    attachments: attachmentsOf(row).map(({ uploadId }) => uploadId),
  };
  const place = {
    continues_job_id: row.job_id,
    work_job_id: row.work_job_id ?? row.job_id,
    round,
    variant_of: row.variant_of,
    variant_chosen: row.variant_chosen,
    base: row.base,
    base_branch: row.base_branch,
  };
  const added = await addJob(deps, tx, author, draft, {
    origin: { continuesJobId: jobId, round: place.round },
    place,
    preference: await findPreference(tx, before),
  });
  if (comments.length > 0) {
    const { job_id, work_job_id } = added.row;
    const key = { workspaceId, jobId: job_id, workJobId: work_job_id ?? job_id };
    await deps.hooks.sendComments(tx, key, comments);
  }
  for (const { number } of queued) {
    const key = { workspace_id: workspaceId, job_id: jobId, number };
    await updateRows(tx, 'job_messages', key, { next_job_id: added.row.job_id });
  }
  // An update that changes nothing: the page of this job hears that another round continues it.
  await updateMessageCount(tx, row);
  return added;
}

/** The prompt of a round without a message, as people see it; its agent adds the comments. */
function countComments(count: number): string {
  return count === 1 ? '1 review comment' : `${count} review comments`;
}

function attachmentsOf({ attachments }: JobRow): Attachment[] {
  return attachments === null ? [] : JSON.parse(attachments);
}

function requirementsOf(
  stored: string | null,
  asked: Parameters<typeof requirementsFor>[1],
): { requirements?: Record<string, unknown> | string } {
  const before: unknown = stored === null ? null : JSON.parse(stored);
  const isAsked = asked.tool !== undefined || asked.model !== undefined;
  if (!isAsked) return before === null ? {} : { requirements: before as string };
  return { requirements: requirementsFor(before ?? {}, asked) };
}
