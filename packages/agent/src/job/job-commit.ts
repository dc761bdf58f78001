import type { Job } from '@signalbox/contract';
import { ApiError } from '@signalbox/sdk';
import { hasCommit, isCommit } from '../git/git.ts';
import type { Mirror } from '../git/git-mirror.ts';
import { findHead } from '../git/work-branch.ts';
import type { HubClient } from '../hub-client.ts';
import type { JobWork } from './job-work.ts';
import { isBranchOf } from './round.ts';
import { workIdOf } from './work-record.ts';

export type JobAnswer = Awaited<ReturnType<HubClient['jobs']['get']>>;

/** Reads another job of the workspace. */
export function readJob({ settings, claimed, signal }: JobWork, jobId: string): Promise<JobAnswer> {
  const { workspaceId } = claimed;
  return settings.client.jobs.get({ workspaceId, jobId }, { signal });
}

/** Like `readJob`; null: retention has deleted the job. */
export async function readKept(work: JobWork, jobId: string): Promise<JobAnswer | null> {
  try {
    return await readJob(work, jobId);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'JOB_NOT_FOUND') return null;
    throw error;
  }
}

/** The commit that a job has left, as its evidence says; null: none. */
export function commitOf({ evidence }: Job): string | null {
  return isCommit(evidence?.commitSha) ? evidence.commitSha : null;
}

/** Whether the mirror has the commit of a job; one that was pushed is fetched from the origin. */
export async function bringCommit(
  { signal }: JobWork,
  mirror: Mirror,
  { job, rounds = [] }: JobAnswer,
  commitSha: string,
): Promise<boolean> {
  const git = { gitDir: mirror.gitDir, signal };
  if (await hasCommit(git, commitSha)) return true;
  const { branch, pushedTo } = job.evidence ?? {};
  const jobIds = [job.jobId, workIdOf(job), ...rounds.map((each) => each.jobId)];
  if (!isBranchOf(jobIds, branch)) return false;
  await findHead(mirror, git, { branch, isPushed: typeof pushedTo === 'string' });
  return await hasCommit(git, commitSha);
}
