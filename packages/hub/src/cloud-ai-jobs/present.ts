import type { CloudAiJob } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { parseColumn } from '../jobs/present.ts';
import type { Entry } from '../queue/entry.ts';
import type { CloudAiJobRow } from './store.ts';

/** A cloud AI job as it is on the wire; fields that do not apply are null. */
export function presentCloudAiJob(entry: Entry, row: CloudAiJobRow): CloudAiJob {
  const running = entry.status === 'running';
  return {
    cloudAiJobId: row.cloud_ai_job_id,
    workspaceId: row.workspace_id,
    kind: row.kind,
    model: row.model,
    input: JSON.parse(row.input) as CloudAiJob['input'],
    responseSchema: parseColumn(row.response_schema),
    runId: row.run_id,
    jobId: row.job_id,
    priority: entry.priority,
    status: entry.status,
    attempt: entry.attempt,
    maxAttempts: entry.attempts_max,
    agentId: entry.agent_id,
    leaseMs: running ? entry.lease_ms : null,
    leaseExpiresAt: running ? nullableTimestampOf(entry.lease_expires_at) : null,
    createdAt: timestampOf(entry.enqueued_at),
    startedAt: nullableTimestampOf(entry.started_at),
    finishedAt: nullableTimestampOf(entry.finished_at),
    outcome: row.outcome,
    result: parseColumn(row.result),
    usage: parseColumn(row.usage),
    message: row.message,
  };
}
