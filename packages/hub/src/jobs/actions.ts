import type { ChildJob, endpoints, Job, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import { HubError, invalidField } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { Principal } from '../principal.ts';
import type { Entry } from '../queue/entry.ts';
import { needsOf } from '../queue/matching.ts';
import { readEntry } from '../queue/queue-store.ts';
import { requireRepository } from '../repositories/read.ts';
import { requireRun } from '../runs/actions.ts';
import { mayRelease } from './policy.ts';
import { presentJob } from './present.ts';
import { recordRecovery } from './recovery-actions.ts';
import { insertJob, type JobRow, readJob, updateJobOutcome, updateJobWait } from './store.ts';
import { appendEvent, insertFirstEvent } from './store-events.ts';

type EnqueueInput = RequestInput<typeof endpoints.jobs.enqueue.request>;

export interface JobRecord {
  entry: Entry;
  row: JobRow;
}

/** What a new job is made from: an enqueue request, or a child of a completion. */
type JobDraft = RequestInput<typeof ChildJob> & {
  workspaceId: string;
  repoId: string;
  parentJobId?: string | undefined;
};

/** Enqueues a job; one idempotency key makes one job. */
export function enqueueJob(
  deps: HubDeps,
  principal: Principal,
  input: EnqueueInput,
): Promise<{ jobId: string; job: Job; idempotent?: boolean }> {
  const { idempotencyKey: key, ...body } = input;
  const { workspaceId } = input;
  const keys = key === undefined ? [] : [`enqueue ${key}`];
  return deps.database.writeConcurrent({ workspaceId, keys }, (tx) =>
    answerOnce(
      tx,
      { workspaceId: input.workspaceId, operation: 'jobsEnqueue', key, body },
      async () => {
        const { entry, row } = await addJob(deps, tx, principal.principalId, input);
        return { jobId: row.job_id, job: presentJob(entry, row) };
      },
    ),
  );
}

/**
 * Adds a job within an action: checks what it refers to, places it in the queue, and begins its
 * timeline.
 *
 * @param origin what its first event says of where it comes from, beside who made it.
 * @throws HubError REPO_NOT_FOUND, RUN_NOT_FOUND, JOB_NOT_FOUND, INVALID_REQUEST
 */
export async function addJob(
  deps: HubDeps,
  tx: Tx,
  createdBy: string,
  draft: JobDraft,
  origin: Record<string, unknown> = {},
): Promise<JobRecord> {
  const { workspaceId } = draft;
  await requireRepository(tx, workspaceId, draft.repoId);
  if (draft.runId !== undefined) await requireRun(tx, workspaceId, draft.runId);
  for (const id of draft.dependsOn) await requireReferredJob(tx, workspaceId, id, '/dependsOn');
  if (draft.parentJobId !== undefined) {
    await requireReferredJob(tx, workspaceId, draft.parentJobId, '/parentJobId');
  }
  const jobId = deps.ids('job');
  const entry = await deps.queue.enqueue(tx, {
    workspaceId,
    entryId: jobId,
    lane: {
      queue: 'jobs',
      repoId: draft.repoId,
      kind: draft.kind,
      requirements: JSON.stringify(needsOf(draft.kind, draft.requirements)),
    },
    priority: draft.priority,
    attemptsMax: draft.maxAttempts,
    delayMs: draft.delayMs,
    dependsOn: draft.dependsOn,
    concurrencyKey: draft.concurrencyKey ?? null,
  });
  const row = rowOf(jobId, draft, createdBy);
  const event = {
    eventId: deps.ids('jobEvent'),
    workspaceId,
    jobId,
    kind: 'enqueued',
    attempt: 0,
    agentId: null,
    data: { by: createdBy, ...origin },
  } as const;
  await Promise.all([insertJob(tx, row), insertFirstEvent(tx, event)]);
  return { entry, row };
}

function rowOf(jobId: string, draft: JobDraft, createdBy: string): JobRow {
  return {
    workspace_id: draft.workspaceId,
    job_id: jobId,
    repo_id: draft.repoId,
    run_id: draft.runId ?? null,
    kind: draft.kind,
    role: draft.role,
    prompt: draft.prompt,
    requirements: draft.requirements === undefined ? null : JSON.stringify(draft.requirements),
    parent_job_id: draft.parentJobId ?? null,
    depends_on: JSON.stringify([...new Set(draft.dependsOn)]),
    budget: draft.budget === undefined ? null : JSON.stringify(draft.budget),
    created_by: createdBy,
    outcome: null,
    outcome_reason: null,
    message: null,
    evidence: null,
    usage: null,
    completion_hash: null,
    completion_attempt: null,
    completion_answer: null,
    waiting_on_uncertainty_id: null,
    decisions: '[]',
  };
}

/** Cancels what does not run at once; asks the holder of what runs to stop. */
export function cancelJob(
  deps: HubDeps,
  principal: Principal,
  input: { workspaceId: string; jobId: string; reason?: string },
): Promise<Job> {
  return deps.database.write(input.workspaceId, async (tx) => {
    const { entry, row } = await requireJob(tx, input.workspaceId, input.jobId);
    if (entry.status === 'canceled' || entry.cancel_requested_at !== null) {
      return presentJob(entry, row);
    }
    if (entry.status === 'done' || entry.status === 'failed') {
      throw new HubError('JOB_ALREADY_FINISHED', `The job is ${entry.status}: nothing to cancel.`);
    }
    const changed = await deps.queue.cancel(tx, entry);
    const by = principal.principalId;
    if (changed.status === 'canceled') {
      await endWait(tx, row);
      await appendEvent(tx, {
        eventId: deps.ids('jobEvent'),
        workspaceId: input.workspaceId,
        jobId: input.jobId,
        kind: 'canceled',
        attempt: changed.attempt,
        agentId: null,
        message: input.reason,
        data: { by },
      });
    }
    await auditJob(tx, principal, 'job.cancel', input);
    const waitsOn = changed.status === 'canceled' ? null : row.waiting_on_uncertainty_id;
    return presentJob(changed, { ...row, waiting_on_uncertainty_id: waitsOn });
  });
}

/** Puts a failed or blocked job back in the queue, with one more attempt if none remains. */
export function retryJob(
  deps: HubDeps,
  principal: Principal,
  input: { workspaceId: string; jobId: string; delayMs: number },
): Promise<Job> {
  return deps.database.write(input.workspaceId, async (tx) => {
    const { entry, row } = await requireJob(tx, input.workspaceId, input.jobId);
    if (entry.status === 'canceled') throw new HubError('JOB_CANCELED');
    if (entry.status === 'done') throw new HubError('JOB_ALREADY_FINISHED');
    if (entry.status !== 'failed' && entry.status !== 'blocked') {
      throw new HubError(
        'INVALID_REQUEST',
        `The job is ${entry.status}: only a failed or blocked job can be retried.`,
      );
    }
    const pending = await deps.queue.requeue(tx, entry, 'retry', {
      delayMs: input.delayMs,
      attemptsMax: Math.max(entry.attempts_max, entry.attempt + 1),
    });
    const cleared = {
      ...row,
      outcome: null,
      outcome_reason: null,
      message: null,
      waiting_on_uncertainty_id: null,
    };
    await updateJobOutcome(tx, row, cleared);
    await endWait(tx, row);
    await appendEvent(tx, {
      eventId: deps.ids('jobEvent'),
      workspaceId: input.workspaceId,
      jobId: input.jobId,
      kind: 'enqueued',
      attempt: pending.attempt,
      agentId: null,
      data: { by: principal.principalId, retry: true },
    });
    await auditJob(tx, principal, 'job.retry', input);
    return presentJob(pending, cleared);
  });
}

/** A person takes a running job from its holder; the holder's writes are refused from now on. */
export function releaseJob(
  deps: HubDeps,
  principal: Principal,
  input: { workspaceId: string; jobId: string; reason?: string },
): Promise<Job> {
  if (!mayRelease(principal)) {
    throw new HubError('NOT_ALLOWED', 'Only a person may take a job from its holder.');
  }
  return deps.database.write(input.workspaceId, async (tx) => {
    const { entry } = await requireJob(tx, input.workspaceId, input.jobId);
    if (entry.status !== 'running') {
      throw new HubError('JOB_NOT_RUNNING', `The job is ${entry.status}: nobody holds it.`);
    }
    const recovery = await deps.queue.recover(tx, entry);
    await recordRecovery(deps, tx, recovery, {
      releasedBy: principal.principalId,
      ...(input.reason === undefined ? {} : { reason: input.reason }),
    });
    await auditJob(tx, principal, 'job.release', input);
    const { agent_id: agentId } = entry;
    // It may wait at capacity: the job that it has lost made no room by itself.
    if (agentId !== null) {
      tx.afterCommit(() => deps.waiters.wakeAgent(input.workspaceId, agentId));
    }
    const { entry: changed, row } = await requireJob(tx, input.workspaceId, input.jobId);
    return presentJob(changed, row);
  });
}

/**
 * A job that an action may change.
 * @throws HubError JOB_NOT_FOUND, the same for unknown and foreign ids.
 */
export async function requireJob(tx: Tx, workspaceId: string, jobId: string): Promise<JobRecord> {
  const record = await findJob(tx, workspaceId, jobId);
  if (record === null) throw new HubError('JOB_NOT_FOUND');
  return record;
}

/** Null for a job that is not there; retention takes away what ended long ago. */
export async function findJob(
  tx: Tx,
  workspaceId: string,
  jobId: string,
): Promise<JobRecord | null> {
  // The entry first: on PostgreSQL that locks the job, and a wait for the lock ends before the
  // second statement looks.
  const [entry, row] = await Promise.all([
    readEntry(tx, workspaceId, jobId),
    readJob(tx, workspaceId, jobId),
  ]);
  return row === undefined || entry === undefined ? null : { entry, row };
}

/** A job that is no longer blocked waits for no decision. */
async function endWait(tx: Tx, row: JobRow): Promise<void> {
  if (row.waiting_on_uncertainty_id !== null) await updateJobWait(tx, row, null);
}

async function requireReferredJob(tx: Tx, workspaceId: string, jobId: string, path: string) {
  if ((await readJob(tx, workspaceId, jobId)) === undefined) {
    const { message } = invalidField(path, 'names a job that is not in this workspace');
    throw new HubError('JOB_NOT_FOUND', message);
  }
}

async function auditJob(
  tx: Tx,
  principal: Principal,
  action: string,
  input: { workspaceId: string; jobId: string; reason?: string },
): Promise<void> {
  await appendAudit(tx, {
    workspaceId: input.workspaceId,
    actor: principal.principalId,
    action,
    subject: input.jobId,
    data: input.reason === undefined ? {} : { reason: input.reason },
  });
}
