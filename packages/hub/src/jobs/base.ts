import { type ChildJob, isJobBase, type RequestInput } from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { commitOf } from './policy.ts';
import { hasNotEnded } from './read-work.ts';
import { type JobRecord, requireJob } from './require-job.ts';
import type { JobRow } from './store.ts';

type Draft = Pick<RequestInput<typeof ChildJob>, 'base'> & { workspaceId: string; repoId: string };

/** The columns of a job that say what it builds on. */
export type BasePlace = Pick<JobRow, 'base' | 'base_branch'>;

/** The job that another one is told to build on. */
interface BaseJob extends JobRecord {
  /** It has not ended: the other one waits for it. */
  isAwaited: boolean;
  /** It has ended, and its commit has not landed. */
  isOnBranch: boolean;
}

/**
 * Reads the job that a new job is told to build on; null: it names none.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST
 */
export async function readBase(tx: Tx, draft: Draft): Promise<BaseJob | null> {
  const jobId = jobOfBase(draft);
  if (jobId === null) return null;
  const { workspaceId, repoId } = draft;
  const record = await requireJob(tx, workspaceId, jobId);
  const { entry, row } = record;
  if (row.repo_id !== repoId) throw invalidField('/base', 'must name a job of the same repository');
  const isAwaited = hasNotEnded(entry.status);
  if (entry.status === 'canceled' || (!isAwaited && commitOf(row) === null)) {
    throw invalidField('/base', 'must name a job that has a commit, or one that has not ended');
  }
  return { ...record, isAwaited, isOnBranch: !isAwaited && row.work_ended !== 'landed' };
}

/** The job that another one names as its base; null: it names none. */
export function jobOfBase({ base }: Pick<Draft, 'base'>): string | null {
  return base !== undefined && isJobBase(base) ? base : null;
}

/** A job is for the branch that it names, or for that of the job on which it builds. */
export function placeBase(
  { repoId, base }: Draft,
  based: JobRow | undefined,
  dependencies: readonly JobRow[],
): BasePlace {
  if (base !== undefined) return { base, base_branch: based ? based.base_branch : base };
  const before = dependencies.find((row) => row.repo_id === repoId);
  return { base: null, base_branch: before?.base_branch ?? null };
}
