import type { Job } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentJob } from './present.ts';
import { type JobRecord, requireJob } from './require-job.ts';
import { updateJob } from './store.ts';
import { recordJobEvent } from './store-events.ts';

/**
 * Cancels a job that does not run at once; asks the holder of a running job to stop.
 *
 * @throws HubError JOB_NOT_FOUND, JOB_ALREADY_FINISHED
 */
export function cancelJob(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId, reason }: { workspaceId: string; jobId: string; reason?: string },
): Promise<Job> {
  return deps.database.write(workspaceId, async (tx) => {
    const record = await requireJob(tx, workspaceId, jobId);
    const { entry, row } = await cancelRecord(deps, tx, principal, record, reason);
    return presentJob(entry, row);
  });
}

/**
 * Cancels a job within a transaction. Refuses before it writes.
 *
 * @returns the same record if the job is canceled or asked to end already.
 * @throws HubError JOB_ALREADY_FINISHED
 */
export async function cancelRecord(
  deps: HubDeps,
  tx: Tx,
  { principalId: actor, displayName }: Principal,
  record: JobRecord,
  reason: string | undefined,
): Promise<JobRecord> {
  const { entry, row } = record;
  if (entry.status === 'canceled' || entry.cancel_requested_at !== null) return record;
  if (entry.status === 'done' || entry.status === 'failed') {
    throw new HubError(
      'JOB_ALREADY_FINISHED',
      `The job is ${entry.status} and cannot be canceled.`,
    );
  }
  const changed = await deps.queue.cancel(tx, entry);
  const isCanceled = changed.status === 'canceled';
  if (isCanceled) {
    if (row.waiting_on_uncertainty_id !== null) {
      await updateJob(tx, row, { waiting_on_uncertainty_id: null });
    }
    recordJobEvent(tx, changed, {
      kind: 'canceled',
      agentId: null,
      message: reason,
      data: { by: actor, byName: displayName },
    });
    const { workspace_id: workspaceId, job_id: jobId } = row;
    await runHooks(deps.hooks.onJobEnded, deps, tx, { workspaceId, jobId });
  } else {
    // The agent hears of it later; people who look at the job see it at once.
    const asked = `${displayName} asked to cancel the job.`;
    recordJobEvent(tx, changed, {
      kind: 'heartbeat',
      agentId: null,
      message: reason === undefined ? asked : `${asked} ${reason}`,
      data: { cancelRequestedBy: actor },
    });
  }
  const { workspace_id: workspaceId, job_id: subject } = row;
  const data = reason === undefined ? {} : { reason };
  await appendAudit(tx, { workspaceId, actor, action: 'job.cancel', subject, data });
  const waitsOn = isCanceled ? null : row.waiting_on_uncertainty_id;
  return { entry: changed, row: { ...row, waiting_on_uncertainty_id: waitsOn } };
}
