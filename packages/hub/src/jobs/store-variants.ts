import type { Reader, Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import type { JobRow } from './store.ts';

export type VariantRow = Pick<JobRow, 'job_id' | 'work_job_id' | 'round' | 'variant_chosen'>;

/** The jobs of all variants of a work: the first round of each, and the rounds after it. */
export function readVariantJobs(
  reader: Reader,
  workspaceId: string,
  variantOf: string,
): Promise<VariantRow[]> {
  return reader.allSql<VariantRow>(
    `SELECT job_id, work_job_id, round, variant_chosen FROM jobs
     WHERE workspace_id = ? AND variant_of = ? ORDER BY job_id`,
    [workspaceId, variantOf],
  );
}

export async function updateVariantChosen(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id' | 'variant_chosen'>,
): Promise<void> {
  const { workspace_id, job_id, variant_chosen } = row;
  await updateRows(tx, 'jobs', { workspace_id, job_id }, { variant_chosen });
}
