import assert from 'node:assert/strict';
import { readDatabase } from './hub-database.ts';

/** The history of one job as one client saw it; each line is an acknowledged answer. */
export interface ClientCycle {
  jobId: string;
  completed: {
    jobId: string;
    agentId: string;
    generation: number;
  } | null;
}

interface JobTruth {
  job_id: string;
  status: string;
  attempt: number;
  completion_attempt: number | null;
  claimed: number;
  completed: number;
  generations: string | null;
}

export interface CrashReport {
  acknowledgedJobs: number;
  acknowledgedCompletions: number;
  jobsInDatabase: number;
}

/**
 * Holds what clients were told against the database of a stopped hub: no acknowledged job is lost,
 * none is completed twice, generations rise by exactly one, and a file is sound.
 *
 * @throws AssertionError naming the first job that breaks a rule.
 */
export async function checkCrashHistory(
  dataDir: string,
  cycles: readonly ClientCycle[],
): Promise<CrashReport> {
  const rows = (await readDatabase(dataDir, truthSql)) as JobTruth[];
  const truths = new Map(rows.map((row) => [row.job_id, row]));
  for (const { jobId } of cycles) {
    const job = truths.get(jobId);
    assert.ok(job, `acknowledged job ${jobId} is in the database`);
    assert.equal(job.status, 'done', `acknowledged job ${jobId} is done`);
  }
  const completions = cycles.flatMap(({ completed }) => completed ?? []);
  const completedIds = new Set(completions.map(({ jobId }) => jobId));
  assert.equal(completedIds.size, completions.length, 'no job was given to two clients');
  for (const { jobId, generation } of completions) {
    const job = truths.get(jobId);
    assert.equal(
      job?.completion_attempt,
      generation,
      `the acknowledged completion of ${jobId} is the one that was kept`,
    );
  }
  for (const job of truths.values()) checkTimeline(job);
  return {
    acknowledgedJobs: cycles.length,
    acknowledgedCompletions: completions.length,
    jobsInDatabase: truths.size,
  };
}

function checkTimeline(job: JobTruth): void {
  assert.ok(job.completed <= 1, `${job.job_id} was completed ${job.completed} times`);
  assert.equal(job.claimed, job.attempt, `every claim of ${job.job_id} is in its timeline`);
  const expected = Array.from({ length: job.attempt }, (_, i) => i + 1).join(',');
  assert.equal(job.generations ?? '', expected, `generations of ${job.job_id} rise by one`);
}

const truthSql = `
  SELECT j.job_id, e.status, e.attempt, j.completion_attempt,
    (SELECT CAST(COUNT(*) AS INTEGER) FROM job_events v
       WHERE v.job_key = j.job_key
         AND v.kind = 'claimed') AS claimed,
    (SELECT CAST(COUNT(*) AS INTEGER) FROM job_events v
       WHERE v.job_key = j.job_key
         AND v.kind = 'completed') AS completed,
    (SELECT STRING_AGG(CAST(v.attempt AS TEXT), ',' ORDER BY v.seq) FROM job_events v
       WHERE v.job_key = j.job_key
         AND v.kind = 'claimed') AS generations
  FROM jobs j JOIN queue_entries e
    ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id`;
