import type { BulkResult, endpoints, RequestInput } from '@signalbox/contract';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { cancelRecord } from './cancel.ts';
import { releaseRecord } from './release.ts';
import { findJob, type JobRecord } from './require-job.ts';
import { retryRecord } from './retry.ts';
import { setPriorityOfRecord } from './set-priority.ts';

type BulkInput = RequestInput<typeof endpoints.jobs.bulk.request>;
type AskedJob = BulkInput['jobs'][number];

/**
 * Takes one action on several jobs, in one transaction. A job that refuses it does not prevent it
 * for the others.
 *
 * @throws HubError INVALID_REQUEST, IDEMPOTENCY_CONFLICT
 */
export function changeJobs(
  deps: HubDeps,
  principal: Principal,
  input: BulkInput,
): Promise<{ results: BulkResult[]; idempotent?: boolean }> {
  const act = actionOf(deps, principal, input);
  requireEachOnce(input.jobs);
  const { workspaceId } = input;
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { operation: 'jobsBulk', principal, input }, async () => {
      const results: BulkResult[] = [];
      for (const job of input.jobs) results.push(await changeJob(tx, workspaceId, job, act));
      return { results };
    }),
  );
}

/** The action on one job. It refuses before it changes the job. */
type Act = (tx: Tx, record: JobRecord) => Promise<JobRecord>;

function actionOf(deps: HubDeps, principal: Principal, input: BulkInput): Act {
  const { action, priority, reason } = input;
  if (action === 'set_priority') {
    if (priority === undefined) throw invalidField('/priority', 'is required for set_priority');
    return (tx, record) => setPriorityOfRecord(deps, tx, principal, record, { priority, reason });
  }
  if (priority !== undefined) throw invalidField('/priority', 'is for set_priority only');
  switch (action) {
    case 'cancel':
      return (tx, record) => cancelRecord(deps, tx, principal, record, reason);
    case 'retry':
      return (tx, record) => retryRecord(deps, tx, principal, record, { delayMs: 0, reason });
    case 'release':
      return (tx, record) => releaseRecord(deps, tx, principal, record, reason);
  }
}

/** Changes one job, or says why not. What an action refuses by a HubError is not written. */
async function changeJob(
  tx: Tx,
  workspaceId: string,
  { jobId, claimGeneration }: AskedJob,
  act: Act,
): Promise<BulkResult> {
  const record = await findJob(tx, workspaceId, jobId);
  try {
    if (record === null) throw new HubError('JOB_NOT_FOUND');
    const { attempt } = record.entry;
    if (claimGeneration !== undefined && claimGeneration !== attempt) {
      throw new HubError(
        'CLAIM_GENERATION_MISMATCH',
        `The job has had ${attempt} attempts, not ${claimGeneration}: look at it again.`,
      );
    }
    const changed = await act(tx, record);
    const result = changed === record ? 'unchanged' : 'changed';
    return { jobId, result, status: changed.entry.status };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const { code, message } = error;
    const status = record === null ? {} : { status: record.entry.status };
    return { jobId, result: 'refused', ...status, error: code, message };
  }
}

function requireEachOnce(jobs: readonly AskedJob[]): void {
  const seen = new Set<string>();
  for (const [index, { jobId }] of jobs.entries()) {
    if (seen.has(jobId)) throw invalidField(`/jobs/${index}/jobId`, 'must not be named twice');
    seen.add(jobId);
  }
}
