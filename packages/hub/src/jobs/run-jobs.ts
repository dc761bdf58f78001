import {
  type Job,
  type JobCounts,
  jobStatuses,
  LISTED_RUN_JOBS_MAX,
  type ListedRun,
  RUN_GRAPH_JOBS_MAX,
  RUN_JOBS_MAX,
  type RunJob,
  type RunUsage,
  type Usage,
} from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import type { Reader } from '../db/engine.ts';
import { countJobs } from './store-list.ts';
import { type RunJobRow, type RunJobsRow, readJobsOfRuns, readRunJobs } from './store-whole.ts';
import { titleOfRow } from './title.ts';

/*
 * The jobs of one run, for its overview and its graph. The number of statements
 * does not depend on the number of jobs.
 */

export async function countJobsOfRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<JobCounts> {
  return (await countJobs(reader, workspaceId, { runId })).counts;
}

/** The progress of runs, by their ids: the newest jobs of each by status, and their cost. */
export async function sumJobsOfRuns(
  reader: Reader,
  workspaceId: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, RunSums>> {
  const rows = await readJobsOfRuns(reader, workspaceId, runIds, LISTED_RUN_JOBS_MAX + 1);
  return new Map(rows.map((row) => [row.run_id, sumsOf(row)]));
}

export type RunSums = Pick<ListedRun, 'jobCounts' | 'costUsd' | 'isCut'>;

function sumsOf({ statuses, cost_usd: costUsd }: RunJobsRow): RunSums {
  const all = statuses === null ? [] : statuses.split(',');
  const shown = all.slice(0, LISTED_RUN_JOBS_MAX);
  return {
    // Made from the list of all statuses, which Object.fromEntries forgets.
    jobCounts: Object.fromEntries(
      jobStatuses.map((status) => [status, shown.filter((each) => each === status).length]),
    ) as JobCounts,
    costUsd,
    isCut: all.length > shown.length,
  };
}

/** The sum of the usage that the newest jobs of a run reported with all their attempts. */
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

/** The newest jobs of a run, oldest first, with their edges. */
export async function listJobsOfRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<{ jobs: RunJob[]; isCut: boolean }> {
  const rows = await readRunJobs(reader, workspaceId, runId, RUN_GRAPH_JOBS_MAX + 1);
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
