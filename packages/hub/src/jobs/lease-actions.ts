import type {
  AgentCommand,
  ChildJob,
  endpoints,
  RequestInput,
  ResponseOf,
} from '@signalbox/contract';
import { listCommands } from '../agents/heartbeat.ts';
import { requireAgent } from '../agents/require-agent.ts';
import { readAgent } from '../agents/store.ts';
import { timestampOf } from '../clock.ts';
import type { Tx } from '../db/engine.ts';
import { assert, HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { hashJson } from '../idempotency/answer-once.ts';
import type { Principal, RequestContext } from '../principal.ts';
import type { Entry } from '../queue/entry.ts';
import { updateRunning } from '../queue/queue-store.ts';
import { checkClaim } from '../queue/states.ts';
import { requireRun } from '../runs/actions.ts';
import { settleCompletion } from '../uncertainties/handover-actions.ts';
import { addJob, findJob, type JobRecord } from './actions.ts';
import { mayReach } from './policy.ts';
import { presentJob } from './present.ts';
import { type JobRow, updateJobOutcome } from './store.ts';
import {
  appendEvent,
  appendEventForPlace,
  foldHeartbeat,
  hasClaimed,
  hasLateEvidence,
} from './store-events.ts';

type HeartbeatInput = RequestInput<typeof endpoints.jobs.heartbeat.request>;
type CompleteInput = RequestInput<typeof endpoints.jobs.complete.request>;
type CompleteAnswer = Omit<ResponseOf<typeof endpoints.jobs.complete>, 'ok'>;
type AppendInput = RequestInput<typeof endpoints.jobEvents.append.request>;

/** Extends the lease of a running job. */
export function renewLease(
  deps: HubDeps,
  { principal }: RequestContext,
  input: HeartbeatInput,
): Promise<{ leaseExpiresAt: string; cancelRequested: boolean; commands: AgentCommand[] }> {
  const { workspaceId, jobId, agentId } = input;
  return deps.database.writeConcurrent({ workspaceId, keys: [jobId] }, async (tx) => {
    const { entry } = await requireJobOfAgent(tx, principal, input);
    const refusal = checkClaim(entry, input);
    if (refusal !== null) throw refusal;
    const renewed = await deps.queue.renew(tx, entry, input.leaseMs, input.shorten);
    await recordJobHeartbeat(deps, tx, renewed, input.message);
    assert(renewed.lease_expires_at !== null, 'a running entry has a lease');
    return {
      leaseExpiresAt: timestampOf(renewed.lease_expires_at),
      cancelRequested: renewed.cancel_requested_at !== null,
      commands: await listCommands(tx, workspaceId, agentId),
    };
  });
}

/**
 * The job that an agent speaks of.
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND
 */
async function requireJobOfAgent(
  tx: Tx,
  principal: Principal,
  { workspaceId, jobId, agentId }: { workspaceId: string; jobId: string; agentId: string },
): Promise<JobRecord> {
  // Asked for together: on PostgreSQL that is one round trip.
  const [record, agent] = await Promise.all([
    findJob(tx, workspaceId, jobId),
    readAgent(tx, workspaceId, agentId),
  ]);
  if (record === null) throw new HubError('JOB_NOT_FOUND');
  requireAgent(agent, principal);
  return record;
}

/** Heartbeats without a message fold into one event an attempt; messages stand for themselves. */
async function recordJobHeartbeat(
  deps: HubDeps,
  tx: Tx,
  entry: Entry,
  message: string | undefined,
): Promise<void> {
  const place = { workspaceId: entry.workspace_id, jobId: entry.entry_id };
  const folds = message === undefined || message === '';
  if (folds && entry.heartbeat_seq !== null) {
    const count = entry.heartbeat_count + 1;
    await foldHeartbeat(tx, { ...place, seq: entry.heartbeat_seq }, count);
    await updateRunning(tx, entry, { heartbeat_count: count });
    return;
  }
  const seq = await appendEventForPlace(tx, {
    eventId: deps.ids('jobEvent'),
    ...place,
    kind: 'heartbeat',
    attempt: entry.attempt,
    agentId: entry.agent_id,
    message: folds ? null : message,
    data: folds ? { count: 1 } : null,
  });
  if (folds) await updateRunning(tx, entry, { heartbeat_seq: seq, heartbeat_count: 1 });
}

/** Appends output to the timeline; an entry known already is skipped, so a retry is harmless. */
export function appendJobLog(
  deps: HubDeps,
  { principal }: RequestContext,
  input: AppendInput,
): Promise<{ appended: number; lastLogSeq: number }> {
  const { workspaceId, jobId, agentId } = input;
  return deps.database.writeConcurrent({ workspaceId, keys: [jobId] }, async (tx) => {
    const { entry } = await requireJobOfAgent(tx, principal, input);
    const refusal = checkClaim(entry, input);
    if (refusal !== null) throw refusal;
    let lastLogSeq = entry.log_seq;
    let appended = 0;
    for (const log of input.entries) {
      if (log.logSeq <= lastLogSeq) continue;
      await appendEvent(tx, {
        eventId: deps.ids('jobEvent'),
        workspaceId,
        jobId,
        kind: 'log',
        attempt: entry.attempt,
        agentId,
        message: log.message,
        data: {
          logSeq: log.logSeq,
          ...(log.stream === undefined ? {} : { stream: log.stream }),
          ...(log.at === undefined ? {} : { at: log.at }),
        },
      });
      lastLogSeq = log.logSeq;
      appended += 1;
    }
    if (appended > 0) await updateRunning(tx, entry, { log_seq: lastLogSeq });
    return { appended, lastLogSeq };
  });
}

type Completion = { answer: CompleteAnswer } | { refusal: HubError };

/**
 * Completes a job: accepted exactly once. The winner's replay gets the same answer; a completion
 * from a lost attempt is refused, and what it brought is kept in the timeline.
 *
 * @throws HubError a refusal of `checkClaim`, JOB_CANCELED, or what a child job refers to.
 */
export async function completeJob(
  deps: HubDeps,
  context: RequestContext,
  input: CompleteInput,
): Promise<CompleteAnswer> {
  const { workspaceId, jobId } = input;
  const completion = await deps.database.writeConcurrent({ workspaceId, keys: [jobId] }, (tx) =>
    tryComplete(deps, tx, context, input),
  );
  // Thrown only now, so that the late evidence written with the refusal is kept.
  if ('refusal' in completion) throw completion.refusal;
  return completion.answer;
}

async function tryComplete(
  deps: HubDeps,
  tx: Tx,
  { principal }: RequestContext,
  input: CompleteInput,
): Promise<Completion> {
  const { workspaceId } = input;
  const record = await requireJobOfAgent(tx, principal, input);
  const { entry, row } = record;
  const completionHash = hashJson(input);
  if (row.completion_answer !== null && isReplay(record, input, completionHash)) {
    const result = JSON.parse(row.completion_answer) as CompleteAnswer['result'];
    return { answer: { result: { ...result, idempotent: true }, job: presentJob(entry, row) } };
  }
  const refusal = checkClaim(entry, input);
  if (refusal !== null) {
    await keepLateEvidence(deps, tx, record, input, completionHash);
    return { refusal };
  }
  if (entry.cancel_requested_at !== null) {
    await endCanceled(deps, tx, record, input, completionHash);
    return { refusal: new HubError('JOB_CANCELED', 'The job was canceled: discard the result.') };
  }
  for (const reached of [{ runId: input.runId }, ...input.children]) {
    if (mayReach(principal, row, reached)) continue;
    throw new HubError(
      'NOT_ALLOWED',
      'With a job token, children stay in the repository and the run of the job.',
    );
  }
  if (input.runId !== undefined) await requireRun(tx, workspaceId, input.runId);
  // Handed over to another job, an answer must not be handed over there as well.
  if (row.decisions !== '[]') tx.requireExclusive();
  return { answer: await acceptCompletion(deps, tx, record, input, completionHash) };
}

/**
 * Whether this is the accepted completion again. Without a generation, equal words may also come
 * from a later attempt of the same agent, which is a completion of its own.
 */
function isReplay({ entry, row }: JobRecord, input: CompleteInput, completionHash: string) {
  if (row.completion_hash !== completionHash) return false;
  const holdsLaterAttempt =
    entry.status === 'running' &&
    entry.agent_id === input.agentId &&
    entry.attempt !== row.completion_attempt;
  return input.claimGeneration !== undefined || !holdsLaterAttempt;
}

async function acceptCompletion(
  deps: HubDeps,
  tx: Tx,
  { entry, row }: JobRecord,
  input: CompleteInput,
  completionHash: string,
): Promise<CompleteAnswer> {
  const retryDelayMs = findRetryDelay(deps, entry, input);
  const moved =
    retryDelayMs === null
      ? await deps.queue.finish(tx, entry, input.outcome)
      : await deps.queue.requeue(tx, entry, 'retryable-outcome', { delayMs: retryDelayMs });
  const spawnedJobIds: string[] = [];
  // Validation has filled in the defaults of each child; RequestInput says so of the top only.
  for (const child of input.children as RequestInput<typeof ChildJob>[]) {
    spawnedJobIds.push(await addChild(deps, tx, row, child, input));
  }
  await appendEvent(tx, {
    eventId: deps.ids('jobEvent'),
    workspaceId: input.workspaceId,
    jobId: input.jobId,
    kind: input.outcome === 'done' ? 'completed' : input.outcome,
    attempt: entry.attempt,
    agentId: input.agentId,
    message: input.message,
    data: outcomeData(input, retryDelayMs === null ? {} : { retryDelayMs }),
  });
  const settled = await settleCompletion(deps, tx, { entry: moved, row }, input.agentId);
  const { status } = settled.entry;
  const result: CompleteAnswer['result'] = {
    jobId: input.jobId,
    status,
    outcome: input.outcome,
    idempotent: false,
    spawnedJobIds,
  };
  const values: JobRow = {
    ...settled.row,
    run_id: row.run_id ?? input.runId ?? null,
    // A job that goes again has no outcome yet; its timeline keeps this attempt's.
    outcome: status === 'pending' ? null : input.outcome,
    outcome_reason: jsonOrNull(input.outcomeReason),
    message: input.message ?? null,
    evidence: jsonOrNull(input.evidence),
    usage: jsonOrNull(input.usage),
    completion_hash: completionHash,
    completion_attempt: entry.attempt,
    completion_answer: JSON.stringify(result),
  };
  await updateJobOutcome(tx, row, values);
  const { workspaceId, agentId } = input;
  // It may have waited at capacity.
  tx.afterCommit(() => deps.waiters.wakeAgent(workspaceId, agentId));
  return { result, job: presentJob(settled.entry, values) };
}

/** The delay before the next attempt, or null when this outcome is final. */
function findRetryDelay(deps: HubDeps, entry: Entry, input: CompleteInput): number | null {
  const { outcome, outcomeReason: reason } = input;
  if (outcome === 'done' || typeof reason !== 'object' || reason.retryable !== true) return null;
  return deps.queue.hasAttemptsLeft(entry) ? (reason.recommendedDelayMs ?? 0) : null;
}

/** Enqueues a job that a completion asked for; what it leaves out, it has from its parent. */
async function addChild(
  deps: HubDeps,
  tx: Tx,
  parent: JobRow,
  child: RequestInput<typeof ChildJob>,
  input: CompleteInput,
): Promise<string> {
  const runId = child.runId ?? parent.run_id ?? input.runId;
  const { row } = await addJob(deps, tx, input.agentId, {
    ...child,
    ...(runId === undefined ? {} : { runId }),
    workspaceId: parent.workspace_id,
    repoId: child.repoId ?? parent.repo_id,
    parentJobId: parent.job_id,
  });
  return row.job_id;
}

async function endCanceled(
  deps: HubDeps,
  tx: Tx,
  record: JobRecord,
  input: CompleteInput,
  completionHash: string,
): Promise<void> {
  const { entry } = record;
  await deps.queue.endCanceled(tx, entry);
  await keepLateEvidence(deps, tx, record, input, completionHash);
  await appendEvent(tx, {
    eventId: deps.ids('jobEvent'),
    workspaceId: input.workspaceId,
    jobId: input.jobId,
    kind: 'canceled',
    attempt: entry.attempt,
    agentId: input.agentId,
  });
  tx.afterCommit(() => deps.waiters.wakeAgent(input.workspaceId, input.agentId));
}

/** What a refused completion brought is kept, once, if its agent ever held the job. */
async function keepLateEvidence(
  deps: HubDeps,
  tx: Tx,
  { entry }: JobRecord,
  input: CompleteInput,
  completionHash: string,
): Promise<void> {
  const { workspaceId, jobId, agentId } = input;
  if (!(await hasClaimed(tx, workspaceId, jobId, agentId))) return;
  if (await hasLateEvidence(tx, workspaceId, jobId, completionHash)) return;
  await appendEvent(tx, {
    eventId: deps.ids('jobEvent'),
    workspaceId,
    jobId,
    kind: 'log',
    attempt: input.claimGeneration ?? entry.attempt,
    agentId,
    message: input.message,
    data: outcomeData(input, { late: true, outcome: input.outcome, completionHash }),
  });
}

function outcomeData(
  input: CompleteInput,
  more: Record<string, unknown>,
): Record<string, unknown> | null {
  const data = {
    ...(input.outcomeReason === undefined ? {} : { outcomeReason: input.outcomeReason }),
    ...(input.evidence === undefined ? {} : { evidence: input.evidence }),
    ...(input.usage === undefined ? {} : { usage: input.usage }),
    ...more,
  };
  return Object.keys(data).length === 0 ? null : data;
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
