import type { Reader, Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { JobMessagesTable } from '../db/schema/jobs.ts';
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

/** The latest jobs that review a job of a piece of work, newest first. */
export function listReviews(
  reader: Reader,
  workspaceId: string,
  workJobId: string,
  limit: number,
): Promise<Pick<RoundRow, 'job_id' | 'status'>[]> {
  return reader.allSql(
    `SELECT j.job_id, e.status FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND j.reviews_job_id IN (
       SELECT job_id FROM jobs WHERE workspace_id = ? AND (job_id = ? OR work_job_id = ?))
     ORDER BY j.job_id DESC LIMIT ?`,
    [workspaceId, workspaceId, workJobId, workJobId, limit],
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

/** Those that neither the tool of the job nor a round has got. */
export async function listQueued(
  reader: Reader,
  { workspace_id, job_id, message_count }: JobRow,
): Promise<JobMessagesTable[]> {
  if (message_count === 0) return [];
  const messages = await listMessages(reader, workspace_id, job_id);
  return messages.filter((one) => one.delivered_at === null && one.next_job_id === null);
}

export async function updateMessageCount(
  tx: Tx,
  { workspace_id, job_id, message_count }: JobRow,
): Promise<void> {
  await updateRows(tx, 'jobs', { workspace_id, job_id }, { message_count });
}

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
