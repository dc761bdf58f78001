import { HubError } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { countJobsOfRun, countJobsOfTree, type JobRow } from './store.ts';

/** Generations of children: more than people plan, few enough to end a loop of agents. */
export const DEPTH_MAX = 20;
/** Jobs below one job, of all generations together. */
export const TREE_JOBS_MAX = 5_000;
export const RUN_JOBS_MAX = 10_000;

/** The place of a job below its parents. */
export type TreePlace = Pick<JobRow, 'depth' | 'root_job_id'>;

/**
 * Finds the place of a new job below its parent, within the limits of depth and number.
 * @throws HubError LIMIT_REACHED
 */
export async function placeInTree(
  tx: Tx,
  workspaceId: string,
  parent: JobRow | null,
): Promise<TreePlace> {
  if (parent === null) return { depth: 0, root_job_id: null };
  const depth = parent.depth + 1;
  if (depth > DEPTH_MAX) {
    throw refuse(
      `Children are at most ${DEPTH_MAX} generations deep: enqueue a job without parent.`,
    );
  }
  const rootJobId = parent.root_job_id ?? parent.job_id;
  if ((await countJobsOfTree(tx, workspaceId, rootJobId, TREE_JOBS_MAX)) >= TREE_JOBS_MAX) {
    throw refuse(`A job has at most ${TREE_JOBS_MAX} jobs below it: enqueue a job without parent.`);
  }
  return { depth, root_job_id: rootJobId };
}

/** @throws HubError LIMIT_REACHED */
export async function requireRunHasRoom(tx: Tx, workspaceId: string, runId: string): Promise<void> {
  if ((await countJobsOfRun(tx, workspaceId, runId, RUN_JOBS_MAX)) < RUN_JOBS_MAX) return;
  throw refuse(`A run has at most ${RUN_JOBS_MAX} jobs: start another run.`);
}

function refuse(message: string): HubError {
  return new HubError('LIMIT_REACHED', message);
}
