import type { Job } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal } from '../principal.ts';
import { recoverLeases } from '../queue/leased-work.ts';
import { mayRelease } from './policy.ts';
import { presentJob } from './present.ts';
import { requireJob } from './require-job.ts';

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
  if (!mayRelease(principal)) {
    throw new HubError('NOT_ALLOWED', 'Only a person may take a job from its holder.');
  }
  return deps.database.write(workspaceId, async (tx) => {
    const { entry } = await requireJob(tx, workspaceId, jobId);
    if (entry.status !== 'running') {
      throw new HubError('JOB_NOT_RUNNING', `The job is ${entry.status}: no agent holds it.`);
    }
    const actor = principal.principalId;
    const data = reason === undefined ? {} : { reason };
    await recoverLeases(deps, tx, [entry], {
      message: 'A person released the job.',
      data: { releasedBy: actor, ...data },
    });
    await appendAudit(tx, { workspaceId, actor, action: 'job.release', subject: jobId, data });
    const { entry: changed, row } = await requireJob(tx, workspaceId, jobId);
    return presentJob(changed, row);
  });
}
