import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, sendUpdate } from '../db/row-write.ts';
import type { CloudAiJobsTable } from '../db/schema/cloud-ai-jobs.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { Entry } from '../queue/entry.ts';

export type CloudAiJobRow = CloudAiJobsTable;

export function readCloudAiJob(
  reader: Reader,
  workspaceId: string,
  cloudAiJobId: string,
): Promise<CloudAiJobRow | undefined> {
  return reader.firstSql<CloudAiJobRow>(
    `SELECT ${allColumns.cloud_ai_jobs} FROM cloud_ai_jobs WHERE workspace_id = ? AND cloud_ai_job_id = ?`,
    [workspaceId, cloudAiJobId],
  );
}

/**
 * Reads entry and row in one statement, so they are consistent. Their only common column is the
 * workspace.
 */
export function readWholeCloudAiJob(
  reader: Reader,
  workspaceId: string,
  cloudAiJobId: string,
): Promise<(Entry & CloudAiJobRow) | undefined> {
  return reader.firstSql<Entry & CloudAiJobRow>(
    `SELECT ${columnsOf('e', 'queue_entries')}, ${columnsOf('j', 'cloud_ai_jobs')}
     FROM cloud_ai_jobs AS j JOIN queue_entries AS e
       ON e.workspace_id = j.workspace_id AND e.entry_id = j.cloud_ai_job_id
     WHERE j.workspace_id = ? AND j.cloud_ai_job_id = ?`,
    [workspaceId, cloudAiJobId],
  );
}

/** Whether the hub has already enqueued a job of this kind about a subject. */
export async function hasJobAbout(
  reader: Reader,
  workspaceId: string,
  kind: string,
  subjectId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    'SELECT 1 FROM cloud_ai_jobs WHERE workspace_id = ? AND kind = ? AND subject_id = ?',
    [workspaceId, kind, subjectId],
  );
  return row !== undefined;
}

/** Writes how a job has ended. */
export function updateCloudAiEnd(tx: Tx, row: CloudAiJobRow): void {
  const { workspace_id, cloud_ai_job_id, input, outcome, result, usage, message } = row;
  sendUpdate(
    tx,
    'cloud_ai_jobs',
    { workspace_id, cloud_ai_job_id },
    { input, outcome, result, usage, message, completion_hash: row.completion_hash },
  );
}

/** Deletes the rows of cloud AI jobs; their entries are deleted apart. */
export async function deleteCloudAiJobs(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'cloud_ai_jobs', { workspace_id: workspaceId, cloud_ai_job_id: ids });
}
