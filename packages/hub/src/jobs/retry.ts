import type { endpoints, Job, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { asObject, needsOf, toolAsked } from '../queue/matching.ts';
import type { Preference } from '../queue/store.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentJob } from './present.ts';
import { refuseContinued } from './refuse-continued.ts';
import { reopenWork } from './reopen-work.ts';
import { type JobRecord, requireJob } from './require-job.ts';
import { noResult, updateJob, updateJobOutcome } from './store.ts';
import { recordJobEvent } from './store-events.ts';
import { storedTitleOf } from './title.ts';

type RetryInput = RequestInput<typeof endpoints.jobs.retry.request>;

/**
 * Puts a failed or blocked job back in the queue, with one more attempt if none remains, and with
 * another prompt if one is given.
 *
 * @throws HubError JOB_NOT_FOUND, JOB_CANCELED, JOB_ALREADY_FINISHED, INVALID_REQUEST
 */
export function retryJob(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId, ...options }: RetryInput,
): Promise<Job> {
  return deps.database.write(workspaceId, async (tx) => {
    const record = await requireJob(tx, workspaceId, jobId);
    const { entry, row } = await retryRecord(deps, tx, principal, record, options);
    return presentJob(entry, row);
  });
}

interface RetryOptions {
  delayMs: number;
  reason?: string | undefined;
  /** Replaces the prompt of the job. */
  prompt?: string | undefined;
  /** Replace those that the job asks for; null: none is asked for. */
  tool?: string | null | undefined;
  model?: string | null | undefined;
}

/**
 * Retries a job within a transaction. Refuses before it changes the job.
 *
 * @throws HubError JOB_CANCELED, JOB_ALREADY_FINISHED, INVALID_REQUEST, LIMIT_REACHED
 */
export async function retryRecord(
  deps: HookDeps,
  tx: Tx,
  { principalId: actor }: Principal,
  record: JobRecord,
  { delayMs, reason, prompt, tool, model }: RetryOptions,
): Promise<JobRecord> {
  const { status } = record.entry;
  if (status === 'canceled') throw new HubError('JOB_CANCELED');
  if (status === 'done') throw new HubError('JOB_ALREADY_FINISHED');
  if (status !== 'failed' && status !== 'blocked') {
    throw new HubError(
      'INVALID_REQUEST',
      `The job is ${status}: only a failed or blocked job can be retried.`,
    );
  }
  await refuseContinued(tx, record);
  await reopenWork(tx, record);
  const { workspace_id: workspaceId, job_id: subject, prompt: previousPrompt } = record.row;
  const isEdited = prompt !== undefined && prompt !== previousPrompt;
  const moved = await changeTool(deps, tx, record, { tool, model });
  const pending = await requeueJob(deps, tx, moved, {
    cause: 'retry',
    delayMs,
    data: {
      by: actor,
      retry: true,
      tool,
      model,
      ...(isEdited ? { previousPrompt } : {}),
    },
  });
  if (isEdited) {
    const set = { prompt, title: storedTitleOf(prompt) };
    Object.assign(pending.row, set);
    await updateJob(tx, pending.row, set);
  }
  const data = {
    ...(reason === undefined ? {} : { reason }),
    ...(isEdited ? { promptChanged: true } : {}),
  };
  await appendAudit(tx, { workspaceId, actor, action: 'job.retry', subject, data });
  return pending;
}

/**
 * Lets the next attempt be for another tool or model.
 *
 * @throws HubError INVALID_REQUEST, LIMIT_REACHED
 */
async function changeTool(
  { queue }: HookDeps,
  tx: Tx,
  record: JobRecord,
  asked: Pick<RetryOptions, 'tool' | 'model'>,
): Promise<JobRecord> {
  const told = Object.entries(asked).filter(([, value]) => value !== undefined);
  if (told.length === 0) return record;
  const { entry, row } = record;
  const before: unknown = row.requirements === null ? {} : JSON.parse(row.requirements);
  const requirements = requirementsFor(before, asked);
  const kind = row.kind as Job['kind'];
  const lane = {
    queue: 'jobs' as const,
    repoId: row.repo_id,
    kind,
    requirements: JSON.stringify(needsOf(kind, requirements)),
  };
  const set = { requirements: JSON.stringify(requirements), ...toolAsked(requirements) };
  const moved = { entry: await queue.changeLane(tx, entry, lane), row: { ...row, ...set } };
  await updateJob(tx, row, set);
  return moved;
}

/**
 * The requirements of a job with another tool or model.
 *
 * @throws HubError INVALID_REQUEST
 */
export function requirementsFor(
  before: unknown,
  asked: Pick<RetryOptions, 'tool' | 'model'>,
): Record<string, unknown> {
  const told = Object.entries(asked).filter(([, value]) => value !== undefined);
  const known = asObject(before);
  if (known === null) {
    const path = `/${told[0]?.[0]}`;
    throw invalidField(path, 'needs a job whose requirements are not a text; enqueue another one');
  }
  const { models: _models, ...others } = known;
  const kept = asked.model === undefined ? known : others;
  const merged = Object.entries({ ...kept, ...Object.fromEntries(told) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}

/**
 * Puts a failed or blocked job back in the queue with at least one attempt left, and clears the
 * result of the attempt that ended.
 *
 * @param data of the event in the timeline.
 */
export async function requeueJob(
  deps: HookDeps,
  tx: Tx,
  { entry, row }: JobRecord,
  {
    cause,
    data,
    message,
    ...options
  }: {
    cause: 'retry' | 'decision';
    data: Record<string, unknown>;
    message?: string;
    delayMs?: number;
    preference?: Preference | null;
  },
): Promise<JobRecord> {
  const pending = await deps.queue.requeue(tx, entry, cause, {
    ...options,
    attemptsMax: Math.max(entry.attempts_max, entry.attempt + 1),
  });
  const cleared = {
    ...row,
    ...noResult,
    waiting_on_uncertainty_id: null,
  };
  updateJobOutcome(tx, cleared);
  if (row.waiting_on_uncertainty_id !== null) {
    await updateJob(tx, row, { waiting_on_uncertainty_id: null });
  }
  recordJobEvent(tx, pending, { kind: 'enqueued', agentId: null, message, data });
  return { entry: pending, row: cleared };
}
