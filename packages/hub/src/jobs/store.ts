import type { Reader, Tx } from '../db/engine.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { JobsTable } from '../db/schema/tables.ts';

export type JobRow = JobsTable;

const jobColumns = [
  'workspace_id',
  'job_id',
  'repo_id',
  'run_id',
  'kind',
  'role',
  'prompt',
  'requirements',
  'parent_job_id',
  'depth',
  'root_job_id',
  'depends_on',
  'budget',
  'created_by',
  'created_by_name',
  'outcome',
  'outcome_reason',
  'message',
  'evidence',
  'usage',
  'completion_hash',
  'completion_attempt',
  'completion_answer',
  'waiting_on_uncertainty_id',
  'decisions',
  'title',
  'changed',
  'verdict',
] as const satisfies readonly (keyof JobRow)[];

const INSERT_JOB = `INSERT INTO jobs (${jobColumns.join(', ')})
  VALUES (${jobColumns.map(() => '?').join(', ')})`;

export function insertJob(tx: Tx, row: JobRow): void {
  tx.send(
    INSERT_JOB,
    jobColumns.map((column) => row[column]),
  );
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
  tx.send(
    `UPDATE jobs SET run_id = ?, outcome = ?, outcome_reason = ?, message = ?, evidence = ?,
       usage = ?, completion_hash = ?, completion_attempt = ?, completion_answer = ?, changed = ?,
       verdict = ?
     WHERE workspace_id = ? AND job_id = ?`,
    [
      row.run_id,
      row.outcome,
      row.outcome_reason,
      row.message,
      row.evidence,
      row.usage,
      row.completion_hash,
      row.completion_attempt,
      row.completion_answer,
      row.changed,
      row.verdict,
      row.workspace_id,
      row.job_id,
    ],
  );
}

/** Replaces the work instruction, and the title that is cut from it. */
export async function updateJobPrompt(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id' | 'prompt' | 'title'>,
): Promise<void> {
  await tx.runSql('UPDATE jobs SET prompt = ?, title = ? WHERE workspace_id = ? AND job_id = ?', [
    row.prompt,
    row.title,
    row.workspace_id,
    row.job_id,
  ]);
}

/** Writes the answer that a replay of the accepted completion gets. */
export function updateCompletionAnswer(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id'>,
  answer: string,
): void {
  tx.send('UPDATE jobs SET completion_answer = ? WHERE workspace_id = ? AND job_id = ?', [
    answer,
    row.workspace_id,
    row.job_id,
  ]);
}

/** Writes an outcome that the hub decides, for example when no attempts remain. */
export async function updateJobVerdict(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id'>,
  values: Pick<JobRow, 'outcome' | 'outcome_reason' | 'message'>,
): Promise<void> {
  await tx.runSql(
    `UPDATE jobs SET outcome = ?, outcome_reason = ?, message = ?
     WHERE workspace_id = ? AND job_id = ?`,
    [values.outcome, values.outcome_reason, values.message, row.workspace_id, row.job_id],
  );
}

/** Writes the answers that were handed to a job. */
export async function updateJobDecisions(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id' | 'decisions'>,
): Promise<void> {
  await tx.runSql('UPDATE jobs SET decisions = ? WHERE workspace_id = ? AND job_id = ?', [
    row.decisions,
    row.workspace_id,
    row.job_id,
  ]);
}

/** Writes the open decision request that a blocked job waits on, or null. */
export async function updateJobWait(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id'>,
  uncertaintyId: string | null,
): Promise<void> {
  await tx.runSql(
    'UPDATE jobs SET waiting_on_uncertainty_id = ? WHERE workspace_id = ? AND job_id = ?',
    [uncertaintyId, row.workspace_id, row.job_id],
  );
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

/** Deletes the rows of jobs; their entries and events are deleted apart. */
export async function deleteJobs(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  await tx.runSql(
    `DELETE FROM jobs WHERE workspace_id = ?
       AND job_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(jobIds)],
  );
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
