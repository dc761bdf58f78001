import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { JobRecord } from './require-job.ts';

/**
 * Gives a job that has not ended another priority, within a transaction. For a running or blocked
 * job it counts from the next attempt on. Refuses before it writes.
 *
 * @returns the same record if the job has this priority.
 * @throws HubError JOB_ALREADY_FINISHED, JOB_CANCELED
 */
export async function setPriorityOfRecord(
  deps: Pick<HubDeps, 'queue'>,
  tx: Tx,
  { principalId: actor }: Principal,
  record: JobRecord,
  { priority, reason }: { priority: number; reason: string | undefined },
): Promise<JobRecord> {
  const { entry, row } = record;
  if (entry.status === 'canceled') throw new HubError('JOB_CANCELED');
  if (entry.status === 'done' || entry.status === 'failed') {
    throw new HubError(
      'JOB_ALREADY_FINISHED',
      `The job is ${entry.status}: its priority no longer counts.`,
    );
  }
  if (entry.priority === priority) return record;
  const changed = await deps.queue.setPriority(tx, entry, priority);
  const { workspace_id: workspaceId, job_id: subject } = row;
  await appendAudit(tx, {
    workspaceId,
    actor,
    action: 'job.set_priority',
    subject,
    data: { from: entry.priority, to: priority, ...(reason === undefined ? {} : { reason }) },
  });
  return { entry: changed, row };
}
