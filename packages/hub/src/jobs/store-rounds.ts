import type { Reader, Tx } from '../db/engine.ts';
import { insertRow, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { JobMessagesTable } from '../db/schema/tables.ts';
import type { Entry } from '../queue/entry.ts';
import type { JobRow } from './store.ts';

export type RoundRow = Pick<JobRow, 'job_id' | 'round'> & Pick<Entry, 'status'>;

/** The latest jobs of a piece of work, newest first. Retention may have deleted earlier ones. */
export function readRounds(
  reader: Reader,
  workspaceId: string,
  workJobId: string,
  limit: number,
): Promise<RoundRow[]> {
  return reader.allSql<RoundRow>(
    `SELECT j.job_id, j.round, e.status FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND (j.job_id = ? OR j.work_job_id = ?)
     ORDER BY j.round DESC LIMIT ?`,
    [workspaceId, workJobId, workJobId, limit],
  );
}

/** The messages to a job, oldest first. */
export function listMessages(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<JobMessagesTable[]> {
  return reader.allSql<JobMessagesTable>(
    `SELECT ${allColumns.job_messages} FROM job_messages
     WHERE workspace_id = ? AND job_id = ? ORDER BY number`,
    [workspaceId, jobId],
  );
}

/** Those that are in no round yet. */
export async function listQueued(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<JobMessagesTable[]> {
  const messages = await listMessages(reader, workspaceId, jobId);
  return messages.filter(({ next_job_id }) => next_job_id === null);
}

export function insertMessage(tx: Tx, message: JobMessagesTable): void {
  insertRow(tx, 'job_messages', message);
}

/** Writes which round has these messages in its prompt. */
export async function updateNextJob(
  tx: Tx,
  messages: readonly JobMessagesTable[],
  next_job_id: string,
): Promise<void> {
  for (const { workspace_id, job_id, number } of messages) {
    await updateRows(tx, 'job_messages', { workspace_id, job_id, number }, { next_job_id });
  }
}

export async function updateMessagesQueued(
  tx: Tx,
  { workspace_id, job_id, messages_queued }: JobRow,
): Promise<void> {
  await updateRows(tx, 'jobs', { workspace_id, job_id }, { messages_queued });
}
