import type { Reader, Tx } from '../db/engine.ts';
import { allColumns, listColumns } from '../db/schema/columns.ts';
import type { RunsTable } from '../db/schema/tables.ts';

export type RunRow = RunsTable;

export function readRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<RunRow | undefined> {
  return reader.firstSql<RunRow>(
    `SELECT ${allColumns.runs} FROM runs WHERE workspace_id = ? AND run_id = ?`,
    [workspaceId, runId],
  );
}

export function readRunByRef(
  reader: Reader,
  workspaceId: string,
  repoId: string,
  runRef: string,
): Promise<RunRow | undefined> {
  return reader.firstSql<RunRow>(
    `SELECT ${allColumns.runs} FROM runs WHERE workspace_id = ? AND repo_id = ? AND run_ref = ?`,
    [workspaceId, repoId, runRef],
  );
}

/** Adds a run unless its reference is taken. @returns whether it was added. */
export async function insertRun(tx: Tx, row: RunRow): Promise<{ added: boolean }> {
  const { changes } = await tx.run(
    tx.build
      .insertInto('runs')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'repo_id', 'run_ref']).doNothing(),
      ),
  );
  return { added: changes > 0 };
}

export type RunChanges = Partial<
  Pick<
    RunRow,
    | 'status'
    | 'current_milestone'
    | 'run_state_path'
    | 'title'
    | 'goal'
    | 'blocked_by_decision_request_id'
  >
>;

/** Updates the given fields of a run. */
export async function updateRun(
  tx: Tx,
  row: Pick<RunRow, 'workspace_id' | 'run_id'>,
  changes: RunChanges,
): Promise<void> {
  await tx.run(
    tx.build
      .updateTable('runs')
      .set({ ...changes, updated_at: tx.nowMs })
      .where('workspace_id', '=', row.workspace_id)
      .where('run_id', '=', row.run_id),
  );
}

/** Unblocks a run that waits for a decision request, which is answered now. */
export async function unblockRun(
  tx: Tx,
  row: { workspace_id: string; run_id: string | null },
  decisionRequestId: string,
): Promise<void> {
  if (row.run_id === null) return;
  await tx.runSql(
    `UPDATE runs SET blocked_by_decision_request_id = NULL, updated_at = ?
     WHERE workspace_id = ? AND run_id = ? AND blocked_by_decision_request_id = ?`,
    [tx.nowMs, row.workspace_id, row.run_id, decisionRequestId],
  );
}

export interface RunFilter {
  repoId?: string | undefined;
  runRef?: string | undefined;
  status?: string | undefined;
}

/** Lists newest first; one more than `limit`, so that the caller sees whether more follow. */
export function listRuns(
  reader: Reader,
  workspaceId: string,
  filter: RunFilter,
  page: { limit: number; before: string | null },
): Promise<RunRow[]> {
  let query = reader.build
    .selectFrom('runs')
    .select(listColumns('runs'))
    .where('workspace_id', '=', workspaceId)
    .orderBy('run_id', 'desc')
    .limit(page.limit + 1);
  if (filter.repoId !== undefined) query = query.where('repo_id', '=', filter.repoId);
  if (filter.runRef !== undefined) query = query.where('run_ref', '=', filter.runRef);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (page.before !== null) query = query.where('run_id', '<', page.before);
  return reader.all(query);
}
