import type { endpoints, RequestInput } from '@signalbox/contract';
import { conditions } from '../db/conditions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertNewRow, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
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
  return { added: await insertNewRow(tx, 'runs', row, ['workspace_id', 'repo_id', 'run_ref']) };
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
    | 'ask_order'
  >
>;

/** Unblocks a run that waits for a decision request, which is answered now. */
export async function unblockRun(
  tx: Tx,
  row: { workspace_id: string; run_id: string | null },
  decisionRequestId: string,
): Promise<void> {
  const { workspace_id, run_id } = row;
  if (run_id === null) return;
  await updateRows(
    tx,
    'runs',
    {
      workspace_id,
      run_id,
      blocked_by_decision_request_id: decisionRequestId,
    },
    { blocked_by_decision_request_id: null, updated_at: tx.nowMs },
  );
}

/** Lists newest first; one more than `limit`, so that the caller sees whether more follow. */
export function listRuns(
  reader: Reader,
  filter: RequestInput<typeof endpoints.runs.list.request>,
  page: { limit: number; before: string | null },
): Promise<RunRow[]> {
  const { sql, values } = conditions([
    ['workspace_id = ?', filter.workspaceId],
    ['repo_id = ?', filter.repoId],
    ['run_ref = ?', filter.runRef],
    ['status = ?', filter.status],
    ['run_id < ?', page.before],
  ]);
  return reader.allSql(
    `SELECT ${allColumns.runs} FROM runs WHERE ${sql} ORDER BY run_id DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}
