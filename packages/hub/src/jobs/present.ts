import {
  idPrefixes,
  type Job,
  type JobEvent,
  type JobMessage,
  type ListedJob,
  type Usage,
} from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { serviceName } from '../base/principal.ts';
import type { JobMessagesTable } from '../db/schema/jobs.ts';
import type { Entry } from '../queue/entry.ts';
import { generationOf } from '../queue/states.ts';
import type { JobRow } from './store.ts';
import { type JobEventRow, readEventData } from './store-events.ts';
import type { JobSummaryRow } from './store-whole.ts';
import { titleOf, titleOfRow } from './title.ts';

type CreatorColumns = Pick<JobRow, 'created_by' | 'created_by_name'>;

/** Parses a JSON column, whose value passed the contract's schema when it was written. */
export function parseColumn<T>(text: string | null | undefined): T | null {
  return text == null ? null : (JSON.parse(text) as T);
}

function creatorOfRow({ created_by: id, created_by_name: name }: CreatorColumns): Job['createdBy'] {
  return { id, name: name ?? serviceName(id) };
}

/** A job as it is on the wire; fields that do not apply are null. */
export function presentJob(entry: Entry, row: JobRow): Job {
  const running = entry.status === 'running';
  return {
    jobId: row.job_id,
    workspaceId: row.workspace_id,
    repoId: row.repo_id,
    runId: row.run_id,
    kind: row.kind as Job['kind'],
    role: row.role,
    title: row.title ?? titleOf(row.prompt),
    prompt: row.prompt,
    requirements: parseColumn(row.requirements),
    priority: entry.priority,
    status: entry.status,
    attempt: entry.attempt,
    maxAttempts: entry.attempts_max,
    agentId: entry.agent_id,
    leaseMs: running ? entry.lease_ms : null,
    leaseExpiresAt: running ? nullableTimestampOf(entry.lease_expires_at) : null,
    availableAt: timestampOf(entry.available_at),
    createdAt: timestampOf(entry.enqueued_at),
    createdBy: creatorOfRow(row),
    startedAt: nullableTimestampOf(entry.started_at),
    finishedAt: nullableTimestampOf(entry.finished_at),
    outcome: row.outcome,
    outcomeReason: parseColumn(row.outcome_reason),
    message: row.message,
    evidence: parseColumn(row.evidence),
    changed: row.changed === null ? null : row.changed === 1,
    verdict: row.verdict,
    tool: row.tool,
    model: row.model,
    usage: parseColumn(row.usage),
    budget: parseColumn(row.budget),
    parentJobId: row.parent_job_id,
    continuesJobId: row.continues_job_id,
    workJobId: row.work_job_id,
    round: row.round,
    landsJobId: row.lands_job_id,
    workEnded: row.work_ended,
    ...(row.reviews_job_id === null ? {} : { reviewsJobId: row.reviews_job_id }),
    ...(row.variant_of === null ? {} : { variantOf: row.variant_of }),
    dependsOn: parseColumn<string[]>(row.depends_on) ?? [],
    ...(row.base === null ? {} : { base: row.base }),
    ...(row.base_branch === null ? {} : { baseBranch: row.base_branch }),
    concurrencyKey: entry.concurrency_key,
    cancelRequestedAt: nullableTimestampOf(entry.cancel_requested_at),
    waitingOnUncertaintyId: row.waiting_on_uncertainty_id,
    ...(row.attachments === null ? {} : { attachments: JSON.parse(row.attachments) }),
    decisions: parseColumn<Job['decisions']>(row.decisions) ?? [],
  };
}

export function presentMessage(row: JobMessagesTable): JobMessage {
  return {
    number: row.number,
    text: row.text,
    author: { id: row.author_id, name: row.author_name },
    createdAt: timestampOf(row.created_at),
    state: stateOf(row),
    deliveredAt: nullableTimestampOf(row.delivered_at),
    nextJobId: row.next_job_id,
  };
}

function stateOf({ delivered_at, next_job_id }: JobMessagesTable): JobMessage['state'] {
  if (next_job_id !== null) return 'next_round';
  return delivered_at === null ? 'queued' : 'delivered';
}

/** Whether the tool of the running attempt takes messages; absent if not. */
export function takesMessages(entry: Entry, row: JobRow): { takesMessages?: true } {
  const takes = entry.status === 'running' && row.messages_generation === generationOf(entry);
  return takes ? { takesMessages: true } : {};
}

/** A job as a row of a list; fields that do not apply are absent. */
export function presentSummary(row: JobSummaryRow): ListedJob {
  const summary: ListedJob = {
    jobId: row.job_id,
    title: titleOfRow(row),
    status: row.status,
    kind: row.kind as Job['kind'],
    repoId: row.repo_id,
    attempt: row.attempt,
    createdAt: timestampOf(row.enqueued_at),
    createdBy: creatorOfRow(row),
  };
  if (row.run_id !== null) summary.runId = row.run_id;
  if (row.agent_id !== null) summary.agentId = row.agent_id;
  if (row.started_at !== null) summary.startedAt = timestampOf(row.started_at);
  if (row.finished_at !== null) summary.finishedAt = timestampOf(row.finished_at);
  if (row.changed !== null) summary.changed = row.changed === 1;
  if (row.verdict !== null) summary.verdict = row.verdict;
  if (row.tool !== null) summary.tool = row.tool;
  if (row.model !== null) summary.model = row.model;
  if (row.lands_job_id !== null) summary.landsJobId = row.lands_job_id;
  if (row.work_ended !== null) summary.workEnded = row.work_ended;
  const failure = row.status === 'failed' ? failureOf(row) : '';
  if (failure !== '') summary.failure = failure;
  if (row.cancel_requested_at !== null) {
    summary.cancelRequestedAt = timestampOf(row.cancel_requested_at);
  }
  if (row.waiting_on_uncertainty_id !== null) {
    summary.waitingOnUncertaintyId = row.waiting_on_uncertainty_id;
  }
  const { costUsd } = parseColumn<Usage>(row.usage) ?? {};
  if (costUsd !== undefined) summary.costUsd = costUsd;
  return summary;
}

/** Why a job failed, in one line: what its agent says, or the reason of the hub. */
function failureOf({ message, outcome_reason }: JobSummaryRow): string {
  if (message !== null && message.trim() !== '') return titleOf(message);
  const reason = parseColumn<Job['outcomeReason']>(outcome_reason);
  return titleOf((typeof reason === 'string' ? reason : reason?.summary) ?? '');
}

/** Derived, because a job's timeline has more rows than anything else: `evt_`, the job, `seq`. */
function eventIdOf(jobId: string, { seq }: JobEventRow): string {
  return `${jobId.replace(/^[a-z]+/, idPrefixes.jobEvent)}_${seq}`;
}

/** An event as it is on the wire. What its job stores, the event does not store again. */
export function presentJobEvent(
  row: JobEventRow,
  { job_id: jobId, created_by: createdBy }: Pick<JobRow, 'job_id' | 'created_by'>,
): JobEvent {
  return {
    eventId: eventIdOf(jobId, row),
    seq: row.seq,
    jobId,
    kind: row.kind as JobEvent['kind'],
    at: timestampOf(row.at),
    attempt: row.attempt,
    agentId: row.agent_id,
    message: row.message,
    data: readEventData(row, createdBy),
  };
}
