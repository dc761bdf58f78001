import type { Reader } from '../db/engine.ts';
import type { Entry } from '../queue/entry.ts';
import type { JobRow } from './store.ts';

/*
 * Read-only snapshots of jobs: entry and row from one statement, so they are consistent. With two
 * statements, a reader could see a job that is done but has no evidence yet.
 */

/** Entry and row of a job, whose only common column is the workspace. */
export type WholeJob = Entry & JobRow;

const WHOLE_JOBS = `SELECT e.*, j.* FROM jobs AS j
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
