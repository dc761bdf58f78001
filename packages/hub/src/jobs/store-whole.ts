import type { EngineName, Reader } from '../db/engine.ts';
import { columnsOf } from '../db/schema/columns.ts';
import type { Entry } from '../queue/entry.ts';
import type { JobRow } from './store.ts';
import { PROMPT_BEGINNING, type TitleColumns, titleOfRow } from './title.ts';

/*
 * Read-only snapshots of jobs: entry and row from one statement, so they are consistent. With two
 * statements, a reader could see a job that is done but has no evidence yet.
 */

/** Entry and row of a job, whose only common column is the workspace. */
export type WholeJob = Entry & JobRow;

const WHOLE_JOBS = `SELECT ${columnsOf('e', 'queue_entries')}, ${columnsOf('j', 'jobs')}
  FROM jobs AS j
  JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id`;

export function readWholeJob(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<WholeJob | undefined> {
  return reader.firstSql<WholeJob>(`${WHOLE_JOBS} WHERE j.workspace_id = ? AND j.job_id = ?`, [
    workspaceId,
    jobId,
  ]);
}

/**
 * Who enqueued a job; null when there is no such job. While a long timeline is being deleted, the
 * job has no entry any more. Reads no long text.
 */
export async function readCreator(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<string | null> {
  const row = await reader.firstSql<Pick<JobRow, 'created_by'>>(
    `SELECT j.created_by FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND j.job_id = ?`,
    [workspaceId, jobId],
  );
  return row?.created_by ?? null;
}

/** Jobs by their ids, in no particular order. */
export function readWholeJobs(
  reader: Reader,
  workspaceId: string,
  ids: readonly string[],
): Promise<WholeJob[]> {
  return reader.allSql<WholeJob>(
    `${WHOLE_JOBS} WHERE j.workspace_id = ? AND j.job_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(ids)],
  );
}

/** Of the message of a failed job, the beginning that one line is cut from. */
const FAILURE_CHARS = 2_000;

/** The columns of a summary. Message and reason are those of a failed job; the message is cut. */
export type JobSummaryRow = Pick<
  Entry,
  | 'status'
  | 'attempt'
  | 'agent_id'
  | 'enqueued_at'
  | 'started_at'
  | 'finished_at'
  | 'cancel_requested_at'
  | 'hold'
  | 'available_at'
  | 'prefer_until'
  | 'lane_id'
> &
  Pick<
    JobRow,
    | 'job_id'
    | 'repo_id'
    | 'run_id'
    | 'kind'
    | 'changed'
    | 'verdict'
    | 'tool'
    | 'model'
    | 'usage'
    | 'waiting_on_uncertainty_id'
    | 'lands_job_id'
    | 'work_ended'
    | 'created_by'
    | 'created_by_name'
    | 'message'
    | 'outcome_reason'
  > &
  TitleColumns;

/** Summaries of jobs by their ids, in no particular order. Reads no long text. */
export function readJobSummaries(
  reader: Reader,
  workspaceId: string,
  ids: readonly string[],
): Promise<JobSummaryRow[]> {
  return reader.allSql<JobSummaryRow>(
    `SELECT e.status, e.attempt, e.agent_id, e.enqueued_at, e.started_at, e.finished_at,
       e.cancel_requested_at, e.hold, e.available_at, e.prefer_until, e.lane_id, j.usage, j.job_id, j.repo_id,
       j.run_id, j.kind, j.changed, j.verdict, j.tool, j.model,
       j.waiting_on_uncertainty_id, j.lands_job_id, j.work_ended, j.title,
       j.created_by, j.created_by_name,
       CASE WHEN e.status = 'failed' THEN substr(j.message, 1, ${FAILURE_CHARS}) END AS message,
       CASE WHEN e.status = 'failed' AND j.message IS NULL THEN j.outcome_reason END
         AS outcome_reason,
       ${PROMPT_BEGINNING}
     FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND j.job_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(ids)],
  );
}

export type RunJobRow = Pick<
  Entry,
  'status' | 'agent_id' | 'enqueued_at' | 'started_at' | 'finished_at'
> &
  Pick<JobRow, 'job_id' | 'kind' | 'parent_job_id' | 'depends_on' | 'changed'> &
  TitleColumns;

/** The newest jobs of a run, newest first. Reads no long text. */
export function readRunJobs(
  reader: Reader,
  workspaceId: string,
  runId: string,
  limit: number,
): Promise<RunJobRow[]> {
  return reader.allSql<RunJobRow>(
    `SELECT e.status, e.agent_id, e.enqueued_at, e.started_at, e.finished_at, j.job_id, j.kind,
       j.parent_job_id, j.depends_on, j.changed, j.title, ${PROMPT_BEGINNING}
     FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND j.run_id = ? ORDER BY j.job_id DESC LIMIT ?`,
    [workspaceId, runId, limit],
  );
}

/** The statuses of jobs, joined by commas, and the sum of their costs; null without one. */
export interface RunJobsRow {
  run_id: string;
  statuses: string | null;
  cost_usd: number | null;
}

/** The cost in the column `usage`. The contract's schema has checked it before it was stored. */
function costOf(engine: EngineName): string {
  return engine === 'sqlite'
    ? "json_extract(usage, '$.costUsd')"
    : "(usage::jsonb ->> 'costUsd')::float8";
}

/** The newest jobs of several runs, so many of each. Their order is not known. */
export function readJobsOfRuns(
  reader: Reader,
  workspaceId: string,
  runIds: readonly string[],
  limit: number,
): Promise<RunJobsRow[]> {
  const newest = (columns: string) =>
    `SELECT ${columns} FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND j.run_id = r.value
     ORDER BY j.job_id DESC LIMIT ?`;
  return reader.allSql<RunJobsRow>(
    `SELECT r.value AS run_id,
       (SELECT string_agg(status, ',') FROM (${newest('e.status')}) AS a) AS statuses,
       (SELECT SUM(${costOf(reader.engine)}) FROM (${newest('j.usage')}) AS b) AS cost_usd
     FROM json_each(?) AS r`,
    [workspaceId, limit, workspaceId, limit - 1, JSON.stringify(runIds)],
  );
}

/** The titles of jobs by their ids. */
export async function readJobTitles(
  reader: Reader,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.allSql<Pick<JobRow, 'job_id'> & TitleColumns>(
    `SELECT job_id, title, ${PROMPT_BEGINNING} FROM jobs
     WHERE workspace_id = ? AND job_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(jobIds)],
  );
  return new Map(rows.map((row) => [row.job_id, titleOfRow(row)]));
}

/**
 * Ids of jobs of all workspaces that have no entry. No change leaves one behind, but the deletion
 * of a long timeline takes several.
 */
export function findJobsWithoutEntry(reader: Reader, limit: number): Promise<string[]> {
  return readIds(
    reader,
    `SELECT j.job_id AS id FROM jobs AS j LEFT JOIN queue_entries AS e
       ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE e.entry_id IS NULL LIMIT ?`,
    limit,
  );
}

/** Ids of entries of all workspaces that are for no job. */
export function findEntriesWithoutJob(reader: Reader, limit: number): Promise<string[]> {
  return readIds(
    reader,
    `SELECT e.entry_id AS id FROM queue_entries AS e LEFT JOIN jobs AS j
       ON j.workspace_id = e.workspace_id AND j.job_id = e.entry_id
     WHERE e.queue = 'jobs' AND j.job_id IS NULL LIMIT ?`,
    limit,
  );
}

async function readIds(reader: Reader, sql: string, limit: number): Promise<string[]> {
  const rows = await reader.allSql<{ id: string }>(sql, [limit]);
  return rows.map(({ id }) => id);
}
