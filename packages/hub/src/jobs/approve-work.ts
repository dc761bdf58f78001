import type { endpoints, RequestInput, Work } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { changeWork, requireLatest } from './change-work.ts';
import { creatorOf } from './enqueue.ts';
import { hasNotEnded, type WorkRecord } from './read-work.ts';
import { writeWork } from './store-works.ts';

type ApproveInput = RequestInput<typeof endpoints.works.approve.request>;

/**
 * Approves the commit of a piece of work that a person has seen. What it lacks needs an override;
 * none helps if that is not the commit of a latest round that is done.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST
 */
export function approveWork(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId, commitSha, override }: ApproveInput,
): Promise<Work> {
  return changeWork(deps, { workspaceId, jobId }, async (tx, record) => {
    const { missing, approval, workJobId } = record.work;
    requireApprovable(record, jobId, commitSha);
    if (approval !== null && (approval.override !== null || missing.length === 0)) return;
    if (missing.length > 0 && override === undefined) {
      const way = 'See to that first, or approve it with an override that says why.';
      throw new HubError('INVALID_REQUEST', `Not approved. ${missing.join(' ')} ${way}`);
    }
    const isOverridden = missing.length > 0 && override !== undefined;
    const approved: NonNullable<Work['approval']> = {
      by: creatorOf(principal),
      at: timestampOf(tx.nowMs),
      jobId,
      commitSha,
      override: isOverridden ? override : null,
    };
    const key = { workspace_id: workspaceId, work_job_id: workJobId };
    await writeWork(tx, key, { approval: JSON.stringify(approved) });
    await appendAudit(tx, {
      workspaceId,
      actor: principal.principalId,
      subject: workJobId,
      action: isOverridden ? 'work.override' : 'work.approve',
      data: { jobId, commitSha, ...(isOverridden ? { override, missing } : {}) },
    });
  });
}

/** @throws HubError INVALID_REQUEST */
function requireApprovable(record: WorkRecord, jobId: string, commitSha: string): void {
  const { work, latest } = record;
  requireLatest(record, jobId);
  if (work.landing !== null && hasNotEnded(work.landing.status)) {
    throw new HubError('INVALID_REQUEST', 'The work is approved, and lands already.');
  }
  if (latest.status !== 'done') {
    const way = 'continue the work, or retry the job';
    throw new HubError('INVALID_REQUEST', `The latest round is ${latest.status}: ${way}.`);
  }
  if (work.commitSha === null) {
    const why = 'The latest round has no commit: there is nothing to approve';
    throw new HubError('INVALID_REQUEST', `${why}; continue the work.`);
  }
  if (work.commitSha !== commitSha) {
    const now = work.commitSha.slice(0, 12);
    const why = `The commit of the latest round is ${now}`;
    throw new HubError('INVALID_REQUEST', `${why}: look at that, then approve it.`);
  }
}
