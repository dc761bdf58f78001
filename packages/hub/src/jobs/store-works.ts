import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, sql, updateRows, upsertRow } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { WorksTable } from '../db/schema/jobs.ts';
import type { JobRow } from './store.ts';

export type WorkRow = WorksTable;

export function readWorkRow(
  reader: Reader,
  workspaceId: string,
  workJobId: string,
): Promise<WorkRow | undefined> {
  return reader.firstSql<WorkRow>(
    `SELECT ${allColumns.works} FROM works WHERE workspace_id = ? AND work_job_id = ?`,
    [workspaceId, workJobId],
  );
}

/** Writes what is given; a work without a row gets one. */
export async function writeWork(
  tx: Tx,
  key: Pick<WorkRow, 'workspace_id' | 'work_job_id'>,
  set: Partial<Omit<WorkRow, 'workspace_id' | 'work_job_id'>>,
): Promise<void> {
  const none = { approval: null, landing_job_id: null, landing_conflicts: null, landed: null };
  const { workspace_id, work_job_id } = key;
  const row = { workspace_id, work_job_id, ...none, ...set };
  await upsertRow(tx, 'works', row, ['workspace_id', 'work_job_id'], set);
}

/** Writes how a work has ended into all its jobs, landings with them; null: it is open again. */
export async function markEnded(
  tx: Tx,
  { workspace_id, work_job_id }: Pick<WorkRow, 'workspace_id' | 'work_job_id'>,
  work_ended: JobRow['work_ended'],
): Promise<void> {
  await updateRows(tx, 'jobs', { workspace_id, job_id: work_job_id }, { work_ended });
  await updateRows(tx, 'jobs', { workspace_id, work_job_id }, { work_ended });
  const isLanding = sql(
    `lands_job_id IN (SELECT job_id FROM jobs WHERE workspace_id = ?
       AND (job_id = ? OR work_job_id = ?))`,
    ...[workspace_id, work_job_id, work_job_id],
  );
  await updateRows(tx, 'jobs', { workspace_id, also: isLanding }, { work_ended });
}

/** Deletes the rows of works whose first job is deleted. Its later rounds keep how it ended. */
export async function deleteWorks(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'works', { workspace_id: workspaceId, work_job_id: jobIds });
}
