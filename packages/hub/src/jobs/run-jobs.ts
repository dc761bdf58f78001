import {
  type Job,
  type JobCounts,
  RUN_GRAPH_JOBS_MAX,
  RUN_JOBS_MAX,
  type RunJob,
  type RunUsage,
  type Usage,
} from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../clock.ts';
import type { Reader } from '../db/engine.ts';
import type { Entry } from '../queue/entry.ts';
import type { JobRow } from './store.ts';
import { countJobs } from './store-list.ts';
import { PROMPT_BEGINNING, type TitleColumns, titleOfRow } from './title.ts';

/*
 * The jobs of one run, for its overview and its graph. Each is one statement, whatever the number
 * of jobs.
 */

export async function countJobsOfRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<JobCounts> {
  return (await countJobs(reader, workspaceId, { runId })).counts;
}

/** The sum of the usage that the newest jobs of a run reported with their last attempts. */
export async function sumUsageOfRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<RunUsage> {
  const rows = await reader.allSql<{ usage: string }>(
    `SELECT usage FROM jobs WHERE workspace_id = ? AND run_id = ? AND usage IS NOT NULL
     ORDER BY job_id DESC LIMIT ?`,
    [workspaceId, runId, RUN_JOBS_MAX],
  );
  // The contract's schema has checked each before it was stored.
  const usages = rows.map((row) => JSON.parse(row.usage) as Usage);
  const sum = (read: (usage: Usage) => number | undefined) =>
    usages.reduce((total, usage) => total + (read(usage) ?? 0), 0);
  return {
    jobs: usages.length,
    jobsWithCost: usages.filter(({ costUsd }) => costUsd !== undefined).length,
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    costUsd: sum((usage) => usage.costUsd),
  };
}

type RunJobRow = Pick<Entry, 'status' | 'agent_id' | 'enqueued_at' | 'started_at' | 'finished_at'> &
  Pick<JobRow, 'job_id' | 'kind' | 'parent_job_id' | 'depends_on' | 'changed'> &
  TitleColumns;

/** The newest jobs of a run, oldest first, with their edges. */
export async function listJobsOfRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<{ jobs: RunJob[]; isCut: boolean }> {
  const rows = await reader.allSql<RunJobRow>(
    `SELECT e.status, e.agent_id, e.enqueued_at, e.started_at, e.finished_at, j.job_id, j.kind,
       j.parent_job_id, j.depends_on, j.changed, j.title, ${PROMPT_BEGINNING}
     FROM jobs AS j
     JOIN queue_entries AS e ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id
     WHERE j.workspace_id = ? AND j.run_id = ? ORDER BY j.job_id DESC LIMIT ?`,
    [workspaceId, runId, RUN_GRAPH_JOBS_MAX + 1],
  );
  const shown = rows.slice(0, RUN_GRAPH_JOBS_MAX).reverse();
  return { jobs: shown.map(presentRunJob), isCut: rows.length > RUN_GRAPH_JOBS_MAX };
}

function presentRunJob(row: RunJobRow): RunJob {
  return {
    jobId: row.job_id,
    title: titleOfRow(row),
    status: row.status,
    kind: row.kind as Job['kind'],
    agentId: row.agent_id,
    parentJobId: row.parent_job_id,
    dependsOn: JSON.parse(row.depends_on) as string[],
    changed: row.changed === null ? null : row.changed === 1,
    createdAt: timestampOf(row.enqueued_at),
    startedAt: nullableTimestampOf(row.started_at),
    finishedAt: nullableTimestampOf(row.finished_at),
  };
}
