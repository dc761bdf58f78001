import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, sql } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { RunMilestonesTable } from '../db/schema/tables.ts';

export type MilestoneRow = RunMilestonesTable;
type RunKey = Pick<MilestoneRow, 'workspace_id' | 'run_id'>;

export function readLastMilestone(
  reader: Reader,
  { workspace_id, run_id }: RunKey,
): Promise<MilestoneRow | undefined> {
  return reader.firstSql<MilestoneRow>(
    `SELECT ${allColumns.run_milestones} FROM run_milestones WHERE workspace_id = ? AND run_id = ?
     ORDER BY seq DESC LIMIT 1`,
    [workspace_id, run_id],
  );
}

/** Oldest first. */
export function listMilestones(
  reader: Reader,
  { workspace_id, run_id }: RunKey,
): Promise<MilestoneRow[]> {
  return reader.allSql<MilestoneRow>(
    `SELECT ${allColumns.run_milestones} FROM run_milestones WHERE workspace_id = ? AND run_id = ? ORDER BY seq`,
    [workspace_id, run_id],
  );
}

/** Deletes the milestones up to a number. */
export async function deleteMilestones(
  tx: Tx,
  { workspace_id, run_id }: RunKey,
  untilSeq: number,
): Promise<void> {
  const where = { workspace_id, run_id, also: sql('seq <= ?', untilSeq) };
  await deleteRows(tx, 'run_milestones', where);
}
