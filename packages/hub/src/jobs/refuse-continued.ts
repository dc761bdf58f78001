import { ROUNDS_LISTED_MAX } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import type { JobRecord } from './require-job.ts';
import { readRounds } from './store-rounds.ts';

/** @throws HubError INVALID_REQUEST */
export function refuseLanding({ row }: JobRecord): void {
  if (row.lands_job_id === null) return;
  const way = `land or continue the round that it is for, ${row.lands_job_id}`;
  throw new HubError('INVALID_REQUEST', `The job is a landing: ${way}.`);
}

/**
 * Refuses an act on a job that a later round continues, since two jobs would work on one branch,
 * and on a variant that was not chosen. A round that was canceled continues nothing.
 *
 * @returns the number of the next round.
 * @throws HubError INVALID_REQUEST
 */
export async function refuseContinued(tx: Tx, record: JobRecord): Promise<number> {
  refuseLanding(record);
  const { row } = record;
  const { workspace_id: workspaceId, job_id: jobId, work_job_id: workJobId } = row;
  if (row.variant_chosen === 0) {
    throw new HubError('INVALID_REQUEST', 'Another variant was chosen: continue that one.');
  }
  const rounds = await readRounds(tx, workspaceId, workJobId ?? jobId, ROUNDS_LISTED_MAX);
  const latest = rounds.find(({ round, status }) => round > row.round && status !== 'canceled');
  if (latest === undefined) return (rounds[0]?.round ?? row.round) + 1;
  throw new HubError(
    'INVALID_REQUEST',
    `The job is continued already: continue round ${latest.round}, ${latest.job_id}.`,
  );
}
