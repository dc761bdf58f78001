import type { endpoints, RequestInput, Work } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { changeWork } from './change-work.ts';
import { creatorOf } from './enqueue.ts';
import { hasNotEnded, type WorkRecord } from './read-work.ts';
import { markEnded, writeWork } from './store-works.ts';

type CloseInput = RequestInput<typeof endpoints.works.close.request>;

/**
 * Closes a piece of work, or records that a person has landed it.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST
 */
export function closeWork(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId, landed }: CloseInput,
): Promise<Work> {
  return changeWork(deps, { workspaceId, jobId }, async (tx, record) => {
    const { state, workJobId } = record.work;
    const ended = landed === undefined ? 'closed' : 'landed';
    if (state === 'landed' || state === ended) return;
    requireIdle(record);
    const key = { workspace_id: workspaceId, work_job_id: workJobId };
    const by = creatorOf(principal);
    const at = timestampOf(tx.nowMs);
    const told = landed && JSON.stringify({ ...landed, at, by, pullRequestUrl: null });
    await writeWork(tx, key, { landed: told ?? null });
    await markEnded(tx, key, ended);
    await appendAudit(tx, {
      workspaceId,
      actor: principal.principalId,
      action: `work.${ended}`,
      subject: workJobId,
      data: { jobId, ...landed },
    });
  });
}

/** @throws HubError INVALID_REQUEST */
function requireIdle({ work, unended }: WorkRecord): void {
  const { landing } = work;
  const isLanding = landing !== null && hasNotEnded(landing.status);
  if (unended === undefined && !isLanding) return;
  const job = isLanding
    ? `Its landing ${landing.jobId} is ${landing.status}`
    : `Round ${unended?.round}, ${unended?.job_id}, is ${unended?.status}`;
  throw new HubError('INVALID_REQUEST', `${job}: wait for its end, or cancel it.`);
}
