import type { Job } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { recoverLeases } from '../queue/leased-work.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { mayRelease } from './policy.ts';
import { presentJob } from './present.ts';
import { type JobRecord, requireJob } from './require-job.ts';

/**
 * Takes a running job from its holder, whose writes are refused from then on.
 *
 * @throws HubError NOT_ALLOWED for programs, JOB_NOT_FOUND, JOB_NOT_RUNNING
 */
export function releaseJob(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId, reason }: { workspaceId: string; jobId: string; reason?: string },
): Promise<Job> {
  requireReleaser(principal);
  return deps.database.write(workspaceId, async (tx) => {
    const record = await requireJob(tx, workspaceId, jobId);
    const { entry, row } = await releaseRecord(deps, tx, principal, record, reason);
    return presentJob(entry, row);
  });
}

/**
 * Releases a job within a transaction. Refuses before it writes.
 *
 * @throws HubError NOT_ALLOWED for programs, JOB_NOT_RUNNING
 */
export async function releaseRecord(
  deps: HubDeps,
  tx: Tx,
  principal: Principal,
  { entry, row }: JobRecord,
  reason: string | undefined,
): Promise<JobRecord> {
  requireReleaser(principal);
  if (entry.status !== 'running') {
    throw new HubError('JOB_NOT_RUNNING', `The job is ${entry.status}: no agent holds it.`);
  }
  const actor = principal.principalId;
  const data = reason === undefined ? {} : { reason };
  await recoverLeases(deps, tx, [entry], {
    message: 'A person released the job.',
    data: { releasedBy: actor, ...data },
  });
  const { workspace_id: workspaceId, job_id: subject } = row;
  await appendAudit(tx, { workspaceId, actor, action: 'job.release', subject, data });
  return requireJob(tx, workspaceId, subject);
}

function requireReleaser(principal: Principal): void {
  if (mayRelease(principal)) return;
  throw new HubError('NOT_ALLOWED', 'Only a person may take a job from its holder.');
}
