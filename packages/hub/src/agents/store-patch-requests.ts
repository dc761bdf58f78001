import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, updateRows, upsertRow } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { PatchRequestsTable } from '../db/schema/review.ts';

export type PatchRequestRow = PatchRequestsTable;

export function readPatchRequest(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<PatchRequestRow | undefined> {
  return reader.firstSql<PatchRequestRow>(
    `SELECT ${allColumns.patch_requests} FROM patch_requests
     WHERE workspace_id = ? AND job_id = ?`,
    [workspaceId, jobId],
  );
}

/** The requests that wait for an agent, oldest first. */
export function listWaitingRequests(
  reader: Reader,
  { workspaceId, agentId, limit }: { workspaceId: string; agentId: string; limit: number },
): Promise<Pick<PatchRequestRow, 'job_id' | 'asked_by_id' | 'asked_by_name'>[]> {
  return reader.allSql(
    `SELECT job_id, asked_by_id, asked_by_name FROM patch_requests
     WHERE workspace_id = ? AND agent_id = ? AND answered_at IS NULL
     ORDER BY asked_at, job_id LIMIT ?`,
    [workspaceId, agentId, limit],
  );
}

/** Replaces the request for the patch of a job. */
export async function writePatchRequest(tx: Tx, row: PatchRequestRow): Promise<void> {
  const { workspace_id: _workspace, job_id: _job, ...set } = row;
  await upsertRow(tx, 'patch_requests', row, ['workspace_id', 'job_id'], set);
}

export async function updateAnswered(
  tx: Tx,
  { workspace_id, job_id, answered_at, refusal }: PatchRequestRow,
): Promise<void> {
  await updateRows(tx, 'patch_requests', { workspace_id, job_id }, { answered_at, refusal });
}

export async function deletePatchRequests(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'patch_requests', { workspace_id: workspaceId, job_id: jobIds });
}
