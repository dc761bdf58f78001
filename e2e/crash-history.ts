import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';

/** What one client saw of one job: each line an answer that the hub acknowledged. */
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
 * none is completed twice, generations rise by exactly one, and the file is sound.
 *
 * @throws AssertionError naming the first job that breaks a rule.
 */
export function checkCrashHistory(
  databasePath: string,
  cycles: readonly ClientCycle[],
): CrashReport {
  const db = new DatabaseSync(databasePath, { readOnly: true });
  try {
    assert.deepEqual(
      { ...db.prepare('PRAGMA integrity_check').get() },
      { integrity_check: 'ok' },
      'the file is sound',
    );
    const truths = readTruths(db);
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
  } finally {
    db.close();
  }
}

function checkTimeline(job: JobTruth): void {
  assert.ok(job.completed <= 1, `${job.job_id} was completed ${job.completed} times`);
  assert.equal(job.claimed, job.attempt, `every claim of ${job.job_id} is in its timeline`);
  const expected = Array.from({ length: job.attempt }, (_, i) => i + 1).join(',');
  assert.equal(job.generations ?? '', expected, `generations of ${job.job_id} rise by one`);
}

function readTruths(db: DatabaseSync): Map<string, JobTruth> {
  const rows = db
    .prepare(
      `SELECT j.job_id, e.status, e.attempt, j.completion_attempt,
         (SELECT COUNT(*) FROM job_events v WHERE v.workspace_id = j.workspace_id
            AND v.job_id = j.job_id AND v.kind = 'claimed') AS claimed,
         (SELECT COUNT(*) FROM job_events v WHERE v.workspace_id = j.workspace_id
            AND v.job_id = j.job_id AND v.kind = 'completed') AS completed,
         (SELECT GROUP_CONCAT(v.attempt, ',' ORDER BY v.seq) FROM job_events v
            WHERE v.workspace_id = j.workspace_id AND v.job_id = j.job_id
              AND v.kind = 'claimed') AS generations
       FROM jobs j JOIN queue_entries e
         ON e.workspace_id = j.workspace_id AND e.entry_id = j.job_id`,
    )
    .all() as unknown as JobTruth[];
  return new Map(rows.map((row) => [row.job_id, row]));
}
