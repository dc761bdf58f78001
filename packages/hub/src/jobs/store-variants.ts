import type { Reader, Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import type { Entry } from '../queue/entry.ts';
import type { JobRow } from './store.ts';

export type VariantRow = Pick<
  JobRow,
  'workspace_id' | 'job_id' | 'work_job_id' | 'round' | 'variant_chosen' | 'usage'
> &
  Pick<Entry, 'status'>;

/**
 * The jobs of all variants of a work: the first round of each, and the rounds after it. Without
 * their prompts and evidence, of which a long work has hundreds.
 */
export function readVariantJobs(
  reader: Reader,
  workspaceId: string,
  variantOf: string,
): Promise<VariantRow[]> {
  return reader.allSql<VariantRow>(
    `SELECT j.workspace_id, j.job_id, j.work_job_id, j.round, j.variant_chosen, j.usage, e.status
     FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND j.variant_of = ? ORDER BY j.job_id`,
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
