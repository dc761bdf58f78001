import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  collectEvidence,
  commitLeftovers,
  type GitEvidence,
  hasUncommittedChanges,
} from '../git/git-evidence.ts';
import { mirrorOf, type RepositoryMapping } from '../git/git-mirror.ts';
import { branchOf, keepWorktree, publishBranch, removeWorktree } from '../git/git-worktree.ts';
import type { CompleteBody } from '../hub-client.ts';
import { jobDirectory } from '../state-directory.ts';
import { attemptKey, type ClaimedJob, type StopReason } from './attempt.ts';
import { openJobLog } from './job-log.ts';
import { isReadOnlyJob } from './job-prompt.ts';
import {
  completionOf,
  type JobResult,
  readResult,
  resultOfFailure,
  resultOfStop,
} from './job-result.ts';
import { performSteps } from './job-steps.ts';
import { JobFailure, type JobSettings, JobStopped, type JobWork } from './job-work.ts';
import { createRedactor } from './redaction.ts';

/** What the work on a job looks at besides the job itself. */
export interface JobRunOptions {
  settings: JobSettings;
  claimed: ClaimedJob;
  repository: RepositoryMapping;
  /** Fires with a `JobStop` as its reason. */
  signal: AbortSignal;
  leaseConfirmed: Promise<void>;
  logBytesMax: number;
  onLogGrowth(): void;
  onProgress(progress: string): void;
}

/** Why and with which words the work was stopped. */
export interface JobStop {
  reason: StopReason;
  why: string;
}

export interface JobEnd {
  /** To be sent; null when there is nothing that this agent may report (canceled, lease lost). */
  completion: CompleteBody | null;
  /** Removes the worktree. Apart, because a result must be safe on disk before time is spent. */
  cleanUp(): Promise<void>;
}

/**
 * Does the work of one attempt from its prompt to its evidence.
 *
 * Whatever the job has changed is on its branch in the person's clone when this returns, also when
 * it failed or was stopped; only the work of a canceled or a read-only job is thrown away.
 */
export async function runJob(options: JobRunOptions): Promise<JobEnd> {
  const work = await openWork(options);
  let isKept = false;
  try {
    let result = await readOutcome(work, options);
    let evidence: GitEvidence = { changedFiles: [] };
    try {
      evidence = await saveWork(work, stopOf(options.signal)?.reason ?? null);
    } catch (error) {
      isKept = true;
      const failure = await keepWork(work, error);
      result &&= resultOfFailure(failure);
    }
    const completion = result === null ? null : completionOf(work, result, evidence);
    return { completion, cleanUp: () => (isKept ? Promise.resolve() : cleanUp(work)) };
  } finally {
    await work.log.close();
  }
}

async function openWork(options: JobRunOptions): Promise<JobWork> {
  const { settings, claimed } = options;
  const key = attemptKey(claimed.jobId, claimed.claimGeneration);
  const directory = jobDirectory(settings.state, key);
  // An attempt begins with nothing; what is here can only be a half-made start.
  await rm(directory.path, { recursive: true, force: true });
  await mkdir(directory.path, { recursive: true, mode: 0o700 });
  const redactor = createRedactor([settings.token ?? '', claimed.jobToken ?? '']);
  redactor.learn(settings.env);
  const log = await openJobLog({
    file: directory.logFile,
    redactor,
    clock: settings.clock,
    bytesMax: options.logBytesMax,
    onGrowth: options.onLogGrowth,
  });
  return {
    ...{ settings, claimed, directory, redactor, log },
    repository: options.repository,
    branch: branchOf(key),
    isReadOnly: !settings.canWrite || isReadOnlyJob(claimed.job),
    mark: randomBytes(16).toString('hex'),
    env: {},
    signal: options.signal,
    leaseConfirmed: options.leaseConfirmed,
    report: options.onProgress,
    tail: { stdout: '', stderr: '' },
  };
}

/** Null: nothing may be reported. */
async function readOutcome(work: JobWork, options: JobRunOptions): Promise<JobResult | null> {
  try {
    await performSteps(work);
    return await readResult(work);
  } catch (error) {
    if (error instanceof JobStopped) {
      const stop = stopOf(options.signal) ?? { reason: 'lease_lost', why: 'Stopped.' };
      await work.log.note(`signalbox: stopped. ${stop.why}`);
      return resultOfStop(stop.reason, stop.why);
    }
    if (!(error instanceof JobFailure)) throw error;
    await work.log.note(`signalbox: ${error.message}`);
    return resultOfFailure(error);
  }
}

/** Commits what is left, reads the evidence and hands the branch over to the person's clone. */
async function saveWork(work: JobWork, stopped: StopReason | null): Promise<GitEvidence> {
  const { worktree } = work;
  if (worktree === undefined || stopped === 'canceled') return { changedFiles: [] };
  const isDirty = await hasUncommittedChanges(worktree);
  if (work.isReadOnly) {
    const evidence = await collectEvidence(worktree);
    if (isDirty || evidence.commitSha !== undefined) {
      await work.log.note('signalbox: this job may only read; its changes are thrown away.');
    }
    return { changedFiles: [] };
  }
  if (isDirty) await commitLeftovers(worktree, work.claimed.job);
  const evidence = await collectEvidence(worktree);
  if (evidence.commitSha !== undefined) await publishBranch(worktree);
  return evidence;
}

async function cleanUp(work: JobWork): Promise<void> {
  const mirror = mirrorOf(work.settings.state, work.repository);
  await removeWorktree(mirror, work.directory.worktree, work.branch);
}

/** A clone that is gone, or a merge that the tool has left half-way, must not cost the work. */
async function keepWork(work: JobWork, error: unknown): Promise<JobFailure> {
  const { worktree, settings, claimed } = work;
  let where = '';
  if (worktree !== undefined) {
    const target = join(settings.state.kept, claimed.key);
    await keepWorktree(worktree, target);
    where = ` It is kept in ${target}.`;
  }
  const summary = `The work could not be handed over: ${(error as Error).message}${where}`;
  await work.log.note(`signalbox: ${summary}`);
  return new JobFailure('environment', 'evidence_failed', summary);
}

function stopOf(signal: AbortSignal): JobStop | null {
  // The one who aborts gives a JobStop, see JobRunOptions.signal.
  return signal.aborted ? (signal.reason as JobStop) : null;
}
