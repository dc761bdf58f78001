import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, sendUpdate, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { JobsTable } from '../db/schema/jobs.ts';

export type JobRow = JobsTable;

/** The job's primary key. */
function keyOf({ workspace_id, job_id }: Pick<JobRow, 'workspace_id' | 'job_id'>) {
  return { workspace_id, job_id };
}

export function readJob(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<JobRow | undefined> {
  return reader.firstSql<JobRow>(
    `SELECT ${allColumns.jobs} FROM jobs WHERE workspace_id = ? AND job_id = ?`,
    [workspaceId, jobId],
  );
}

/** The columns that tell how the last attempt ended. */
export type JobResult = Pick<
  JobRow,
  'outcome' | 'outcome_reason' | 'message' | 'evidence' | 'usage' | 'changed' | 'verdict'
>;

/**
 * A job that waits for its next attempt has no result; its timeline keeps those of the others. Its
 * usage stays: it is that of all attempts.
 */
export const noResult: Omit<JobResult, 'usage'> = {
  outcome: null,
  outcome_reason: null,
  message: null,
  evidence: null,
  changed: null,
  verdict: null,
};

/** Counts the jobs of a run, up to `countMax`. */
export async function countJobsOfRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
  countMax: number,
): Promise<number> {
  const row = await reader.firstSql<{ jobs: number }>(
    `SELECT COUNT(*) AS jobs FROM (
       SELECT 1 FROM jobs WHERE workspace_id = ? AND run_id = ? LIMIT ?) AS few`,
    [workspaceId, runId, countMax],
  );
  return row?.jobs ?? 0;
}

/** Counts the jobs below the first job of a tree, up to `countMax`. */
export async function countJobsOfTree(
  reader: Reader,
  workspaceId: string,
  rootJobId: string,
  countMax: number,
): Promise<number> {
  const row = await reader.firstSql<{ jobs: number }>(
    `SELECT COUNT(*) AS jobs FROM (
       SELECT 1 FROM jobs WHERE workspace_id = ? AND root_job_id = ? LIMIT ?) AS few`,
    [workspaceId, rootJobId, countMax],
  );
  return row?.jobs ?? 0;
}

/** Writes what an accepted completion contained. */
export function updateJobOutcome(tx: Tx, row: JobRow): void {
  sendUpdate(tx, 'jobs', keyOf(row), {
    run_id: row.run_id,
    outcome: row.outcome,
    outcome_reason: row.outcome_reason,
    message: row.message,
    evidence: row.evidence,
    usage: row.usage,
    completion_hash: row.completion_hash,
    completion_attempt: row.completion_attempt,
    completion_answer: row.completion_answer,
    changed: row.changed,
    verdict: row.verdict,
    tool: row.tool,
    model: row.model,
  });
}

/** Writes some columns of a job. */
export async function updateJob(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id'>,
  changes: Partial<JobRow>,
): Promise<void> {
  await updateRows(tx, 'jobs', keyOf(row), changes);
}

/** The jobs that some jobs depend on, as JSON arrays of ids; deleted jobs are left out. */
export async function readDependsOn(
  reader: Reader,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.allSql<Pick<JobRow, 'job_id' | 'depends_on'>>(
    `SELECT job_id, depends_on FROM jobs WHERE workspace_id = ?
       AND job_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(jobIds)],
  );
  return new Map(rows.map(({ job_id, depends_on }) => [job_id, depends_on]));
}

/** Deletes the rows of jobs, and messages to them; entries and events are deleted apart. */
export async function deleteJobs(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  const ofJobs = { workspace_id: workspaceId, job_id: jobIds };
  await deleteRows(tx, 'job_messages', ofJobs);
  await deleteRows(tx, 'jobs', ofJobs);
}

/** Of a prompt, the beginning that is enough to know its subject. */
const PROMPT_CHARS = 4_000;

/** The prompts of a run's latest jobs, latest first. */
export async function listRecentPrompts(
  reader: Reader,
  workspaceId: string,
  runId: string,
  limit: number,
): Promise<string[]> {
  const rows = await reader.allSql<{ prompt: string }>(
    `SELECT substr(prompt, 1, ${PROMPT_CHARS}) AS prompt FROM jobs
     WHERE workspace_id = ? AND run_id = ? ORDER BY job_id DESC LIMIT ?`,
    [workspaceId, runId, limit],
  );
  return rows.map((row) => row.prompt);
}
