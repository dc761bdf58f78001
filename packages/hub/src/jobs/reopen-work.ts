import { HubError } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { hasNotEnded, workIdOf } from './read-work.ts';
import { findJob, type JobRecord } from './require-job.ts';
import { markEnded, readWorkRow, writeWork } from './store-works.ts';

/**
 * Voids the approval of a work that is continued, and opens one that has ended.
 *
 * @throws HubError INVALID_REQUEST: it lands.
 */
export async function reopenWork(tx: Tx, { row }: JobRecord): Promise<void> {
  const { workspace_id } = row;
  const key = { workspace_id, work_job_id: workIdOf(row) };
  const work = await readWorkRow(tx, workspace_id, key.work_job_id);
  const landing =
    work?.landing_job_id == null ? null : await findJob(tx, workspace_id, work.landing_job_id);
  if (landing !== null && hasNotEnded(landing.entry.status)) {
    const { job_id } = landing.row;
    const why = `The work lands: its landing ${job_id} is ${landing.entry.status}`;
    throw new HubError('INVALID_REQUEST', `${why}. Cancel that first, or wait for its end.`);
  }
  if (work !== undefined) {
    const none = { approval: null, landing_job_id: null, landing_conflicts: null, landed: null };
    await writeWork(tx, key, none);
  }
  if (row.work_ended !== null) await markEnded(tx, key, null);
}
