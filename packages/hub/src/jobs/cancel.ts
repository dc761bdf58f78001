import type { Job } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal } from '../principal.ts';
import { presentJob } from './present.ts';
import { requireJob } from './require-job.ts';
import { updateJobWait } from './store.ts';
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
    const { entry, row } = await requireJob(tx, workspaceId, jobId);
    if (entry.status === 'canceled' || entry.cancel_requested_at !== null) {
      return presentJob(entry, row);
    }
    if (entry.status === 'done' || entry.status === 'failed') {
      throw new HubError(
        'JOB_ALREADY_FINISHED',
        `The job is ${entry.status} and cannot be canceled.`,
      );
    }
    const changed = await deps.queue.cancel(tx, entry);
    const actor = principal.principalId;
    const isCanceled = changed.status === 'canceled';
    if (isCanceled) {
      if (row.waiting_on_uncertainty_id !== null) await updateJobWait(tx, row, null);
      await recordJobEvent(deps, tx, changed, {
        ...{ kind: 'canceled', agentId: null, message: reason },
        data: { by: actor },
      });
    }
    const data = reason === undefined ? {} : { reason };
    await appendAudit(tx, { workspaceId, actor, action: 'job.cancel', subject: jobId, data });
    return presentJob(changed, {
      ...row,
      waiting_on_uncertainty_id: isCanceled ? null : row.waiting_on_uncertainty_id,
    });
  });
}
