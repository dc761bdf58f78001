import { nullableTimestampOf } from '../base/clock.ts';
import type { Tx } from '../db/engine.ts';
import type { LostLease } from '../queue/queue.ts';
import { type HookDeps, runHooks } from '../start/hooks.ts';
import { updateJob } from './store.ts';
import { type JobEventDraft, recordJobEvent } from './store-events.ts';

/**
 * Records a lost lease in the job and its timeline: the job is pending again, or it is canceled or
 * failed. The `onLeaseLost` of jobs.
 */
export async function recordLostLease(
  deps: HookDeps,
  tx: Tx,
  { lost, cause, explanation }: LostLease,
): Promise<void> {
  const { workspace_id: workspaceId, entry_id: jobId } = lost;
  const record = (event: JobEventDraft) => recordJobEvent(tx, lost, event);
  record({
    kind: 'recovered',
    message: explanation?.message ?? lossMessage(cause),
    data: {
      lostByAgentId: lost.agent_id,
      leaseExpiresAt: nullableTimestampOf(lost.lease_expires_at),
      ...(cause === 'cancel' ? { cause } : {}),
      ...explanation?.data,
    },
  });
  if (cause === 'cancel') record({ kind: 'canceled', data: {} });
  if (cause !== 'lease-lost') {
    await runHooks(deps.hooks.onJobEnded, deps, tx, { workspaceId, jobId });
  }
  if (cause !== 'attempts-exhausted') return;
  const reason = {
    category: 'lease',
    code: 'attempts_exhausted',
    retryable: false,
    summary: `All ${lost.attempts_max} attempts lost their lease or failed.`,
  };
  await updateJob(
    tx,
    { workspace_id: workspaceId, job_id: jobId },
    { outcome: 'failed', outcome_reason: JSON.stringify(reason), message: reason.summary },
  );
  record({ kind: 'failed', message: reason.summary, data: { outcomeReason: reason } });
}

function lossMessage(cause: LostLease['cause']): string {
  if (cause === 'cancel') return 'The job was canceled.';
  return 'The lease expired: its agent did not answer in time.';
}
