import type { JobEventKind } from '@signalbox/contract';
import { nullableTimestampOf } from '../clock.ts';
import { recordCloudAiRecovery } from '../cloud-ai-jobs/recovery-actions.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Entry } from '../queue/entry.ts';
import type { Recovery } from '../queue/queue.ts';
import { updateJobVerdict } from './store.ts';
import { appendEvent } from './store-events.ts';

/** Leases taken back in one action; the sweeper goes on at once with the next. */
export const RECOVERIES_MAX = 500;

/** Delayed entries made claimable by one claim; the sweeper does the rest. */
const DUE_MAX = 100;

/**
 * Takes back the leases that have run out, of every queue, and tells each noun what that means.
 *
 * @param workspaceId null: of all workspaces, for the sweeper.
 * @returns how many leases were taken back.
 */
export async function recoverExpiredLeases(
  deps: HubDeps,
  tx: Tx,
  workspaceId: string | null,
): Promise<number> {
  const recoveries = await deps.queue.recoverExpired(tx, workspaceId, RECOVERIES_MAX);
  for (const recovery of recoveries) {
    if (recovery.lost.queue === 'jobs') await recordRecovery(deps, tx, recovery, {});
    else await recordCloudAiRecovery(tx, recovery);
    const { workspace_id: lostIn, agent_id: agentId } = recovery.lost;
    // It may wait at capacity: the job that it has lost made no room by itself.
    if (agentId !== null) tx.afterCommit(() => deps.waiters.wakeAgent(lostIn, agentId));
  }
  return recoveries.length;
}

/**
 * Claims an entry of either queue. When none is ready, leases that ran out and delays that ended
 * may yield one: it is tried once more.
 *
 * @param claim told whether it is tried again, after entries have changed.
 */
export async function claimOrFree(
  deps: HubDeps,
  tx: Tx,
  workspaceId: string,
  claim: (isAgain: boolean) => Promise<Entry | null>,
): Promise<Entry | null> {
  const entry = await claim(false);
  if (entry !== null) return entry;
  const recovered = await recoverExpiredLeases(deps, tx, workspaceId);
  const due = await deps.queue.promoteDue(tx, workspaceId, DUE_MAX);
  return recovered + due > 0 ? claim(true) : null;
}

/** Writes what a lost lease means into the job and its timeline. */
export async function recordRecovery(
  deps: HubDeps,
  tx: Tx,
  { lost, cause }: Recovery,
  data: Record<string, unknown>,
): Promise<void> {
  const job = { workspace_id: lost.workspace_id, job_id: lost.entry_id };
  const append = (kind: JobEventKind, message: string | null, more: Record<string, unknown>) =>
    appendEvent(tx, {
      eventId: deps.ids('jobEvent'),
      workspaceId: lost.workspace_id,
      jobId: lost.entry_id,
      kind,
      attempt: lost.attempt,
      agentId: lost.agent_id,
      message,
      data: more,
    });
  const released = 'releasedBy' in data;
  await append('recovered', released ? 'A person released the job.' : 'The lease ran out.', {
    lostByAgentId: lost.agent_id,
    leaseExpiresAt: nullableTimestampOf(lost.lease_expires_at),
    ...data,
  });
  if (cause === 'cancel') await append('canceled', null, {});
  if (cause !== 'attempts-exhausted') return;
  const reason = {
    category: 'lease',
    code: 'attempts_exhausted',
    retryable: false,
    summary: `All ${lost.attempts_max} attempts lost their lease or failed.`,
  };
  await updateJobVerdict(tx, job, {
    outcome: 'failed',
    outcome_reason: JSON.stringify(reason),
    message: reason.summary,
  });
  await append('failed', reason.summary, { outcomeReason: reason });
}
