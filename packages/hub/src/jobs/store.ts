import type { Reader, Tx } from '../db/engine.ts';
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
  'depends_on',
  'budget',
  'created_by',
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
] as const satisfies readonly (keyof JobRow)[];

const INSERT_JOB = `INSERT INTO jobs (${jobColumns.join(', ')})
  VALUES (${jobColumns.map(() => '?').join(', ')})`;

export async function insertJob(tx: Tx, row: JobRow): Promise<void> {
  await tx.runSql(
    INSERT_JOB,
    jobColumns.map((column) => row[column]),
  );
}

export function readJob(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<JobRow | undefined> {
  return reader.firstSql<JobRow>('SELECT * FROM jobs WHERE workspace_id = ? AND job_id = ?', [
    workspaceId,
    jobId,
  ]);
}

export type JobOutcomeColumns = Pick<
  JobRow,
  | 'run_id'
  | 'outcome'
  | 'outcome_reason'
  | 'message'
  | 'evidence'
  | 'usage'
  | 'completion_hash'
  | 'completion_attempt'
  | 'completion_answer'
>;

/** Keeps what an accepted completion said. */
export async function updateJobOutcome(
  tx: Tx,
  row: Pick<JobRow, 'workspace_id' | 'job_id'>,
  values: JobOutcomeColumns,
): Promise<void> {
  await tx.runSql(
    `UPDATE jobs SET run_id = ?, outcome = ?, outcome_reason = ?, message = ?, evidence = ?,
       usage = ?, completion_hash = ?, completion_attempt = ?, completion_answer = ?
     WHERE workspace_id = ? AND job_id = ?`,
    [
      values.run_id,
      values.outcome,
      values.outcome_reason,
      values.message,
      values.evidence,
      values.usage,
      values.completion_hash,
      values.completion_attempt,
      values.completion_answer,
      row.workspace_id,
      row.job_id,
    ],
  );
}

/** The outcome that the hub itself gives, such as when no attempts remain. */
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

/** Keeps the answers that were handed to a job. */
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

/** Says on which open decision request a blocked job waits; null: on none. */
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

/** How many ready entries of a repository go before a place; counted up to `most`. */
export async function countReadyBefore(
  reader: Reader,
  place: { workspaceId: string; repoId: string; sortKey: number; entryId: string },
  most: number,
): Promise<number> {
  const { workspaceId, repoId, sortKey, entryId } = place;
  const lanes = await reader.allSql<{ lane_id: string }>(
    `SELECT lane_id FROM queue_lanes WHERE workspace_id = ? AND queue = 'jobs' AND repo_id = ?`,
    [workspaceId, repoId],
  );
  let ahead = 0;
  for (const lane of lanes) {
    // A stretch of one index for each lane.
    const row = await reader.firstSql<{ ahead: number }>(
      `SELECT COUNT(*) AS ahead FROM (
         SELECT 1 FROM queue_entries
         WHERE workspace_id = ? AND lane_id = ? AND hold = 'ready' AND (sort_key, entry_id) < (?, ?)
         LIMIT ?) AS before`,
      [workspaceId, lane.lane_id, sortKey, entryId, most - ahead],
    );
    ahead += row?.ahead ?? 0;
    if (ahead >= most) return most;
  }
  return ahead;
}

/** Those of a job's dependencies that are not done, with their status. */
export function listUnmetDependencies(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<{ entry_id: string; status: string }[]> {
  return reader.allSql(
    `SELECT e.entry_id, e.status FROM json_each(
       (SELECT depends_on FROM jobs WHERE workspace_id = ? AND job_id = ?)) d
     JOIN queue_entries e ON e.workspace_id = ? AND e.entry_id = d.value
     WHERE e.status <> 'done' LIMIT 100`,
    [workspaceId, jobId, workspaceId],
  );
}

/** The running entry that holds a concurrency key. */
export function readKeyHolder(
  reader: Reader,
  workspaceId: string,
  key: string,
): Promise<{ entry_id: string } | undefined> {
  return reader.firstSql(
    `SELECT entry_id FROM queue_entries
     WHERE workspace_id = ? AND queue = 'jobs' AND concurrency_key = ? AND status = 'running'`,
    [workspaceId, key],
  );
}

/** How many entries each agent of a workspace holds; those that hold none are left out. */
export async function countRunningByAgent(
  reader: Reader,
  workspaceId: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.allSql<{ agent_id: string; running: number }>(
    `SELECT agent_id, COUNT(*) AS running FROM queue_entries
     WHERE workspace_id = ? AND status = 'running' GROUP BY agent_id`,
    [workspaceId],
  );
  return new Map(rows.map(({ agent_id, running }) => [agent_id, running]));
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
