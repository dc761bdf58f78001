import type { Work } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWork, type WorkRecord } from './read-work.ts';
import { requireJob } from './require-job.ts';
import { updateMessageCount } from './store-rounds.ts';

/**
 * Changes a piece of work in a transaction.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST: the job is a landing.
 */
export function changeWork(
  deps: HubDeps,
  { workspaceId, jobId }: { workspaceId: string; jobId: string },
  change: (tx: Tx, record: WorkRecord) => Promise<void>,
): Promise<Work> {
  return deps.database.write(workspaceId, async (tx) => {
    const record = await requireWork(deps, tx, workspaceId, jobId);
    await change(tx, record);
    return announceWork(deps, tx, record);
  });
}

/** @throws HubError JOB_NOT_FOUND, INVALID_REQUEST: the job is a landing. */
export async function requireWork(
  deps: HubDeps,
  tx: Tx,
  workspaceId: string,
  jobId: string,
): Promise<WorkRecord> {
  const { row } = await requireJob(tx, workspaceId, jobId);
  if (row.lands_job_id !== null) {
    const way = `name the round that it lands, ${row.lands_job_id}`;
    throw new HubError('INVALID_REQUEST', `The job is a landing: ${way}.`);
  }
  const record = await readWork(deps, tx, row);
  if (record === null) throw new HubError('JOB_NOT_FOUND');
  return record;
}

/** Returns the work as it is now; the page of its latest round hears that it has changed. */
export async function announceWork(
  deps: HubDeps,
  tx: Tx,
  { latest, work }: WorkRecord,
): Promise<Work> {
  // An update that changes nothing.
  await updateMessageCount(tx, latest);
  return (await readWork(deps, tx, latest))?.work ?? work;
}

/**
 * Refuses an act on a round that is not the latest of an open work.
 *
 * @throws HubError INVALID_REQUEST
 */
export function requireLatest({ work, latest, unended }: WorkRecord, jobId: string): void {
  if (latest.work_ended !== null) {
    const how = work.state === 'landed' ? 'has landed' : 'was closed';
    throw new HubError('INVALID_REQUEST', `The work ${how}: continue it to open it again.`);
  }
  if (latest.variant_chosen === 0) {
    throw new HubError('INVALID_REQUEST', 'Another variant was chosen: look at that one.');
  }
  if (unended !== undefined) {
    const what = `Round ${unended.round}, ${unended.job_id}, is ${unended.status}`;
    throw new HubError('INVALID_REQUEST', `${what}: wait for its end, or cancel it.`);
  }
  if (latest.job_id === jobId) return;
  const what = `The latest round is ${latest.round}, ${latest.job_id}`;
  throw new HubError('INVALID_REQUEST', `${what}: look at its result.`);
}
