import type { Job, JobEvent } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../clock.ts';
import type { Entry } from '../queue/entry.ts';
import type { JobRow } from './store.ts';
import type { JobEventRow } from './store-events.ts';

/** Parses a JSON column, whose value passed the contract's schema when it was written. */
function parseColumn<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
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
    startedAt: nullableTimestampOf(entry.started_at),
    finishedAt: nullableTimestampOf(entry.finished_at),
    outcome: row.outcome,
    outcomeReason: parseColumn(row.outcome_reason),
    message: row.message,
    evidence: parseColumn(row.evidence),
    usage: parseColumn(row.usage),
    budget: parseColumn(row.budget),
    parentJobId: row.parent_job_id,
    dependsOn: parseColumn<string[]>(row.depends_on) ?? [],
    concurrencyKey: entry.concurrency_key,
    cancelRequestedAt: nullableTimestampOf(entry.cancel_requested_at),
    waitingOnUncertaintyId: row.waiting_on_uncertainty_id,
    decisions: parseColumn<Job['decisions']>(row.decisions) ?? [],
  };
}

export function presentJobEvent(row: JobEventRow): JobEvent {
  return {
    eventId: row.event_id,
    seq: row.seq,
    jobId: row.job_id,
    kind: row.kind as JobEvent['kind'],
    at: timestampOf(row.at),
    attempt: row.attempt,
    agentId: row.agent_id,
    message: row.message,
    data: parseColumn(row.data),
  };
}
