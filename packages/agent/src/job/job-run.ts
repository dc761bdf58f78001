import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from '@signalbox/contract';
import type { ToolFailure } from '../executors/tool-failure.ts';
import {
  commitLeftovers,
  findInChanges,
  type GitEvidence,
  importCommits,
  readChanges,
  type ToolChanges,
} from '../git/git-evidence.ts';
import { mirrorOf, type RepositoryMapping } from '../git/git-mirror.ts';
import {
  branchOf,
  isUntouched,
  keepWorktree,
  publishBranch,
  removeWorktree,
  type Worktree,
} from '../git/git-worktree.ts';
import { type CommitRange, countLines, makePatch } from '../git/shared-changes.ts';
import { moveHead, openToolRepository, type ToolRepository } from '../git/tool-repository.ts';
import { keepWarm, listWarm, setAside } from '../git/warm-worktrees.ts';
import type { CompleteBody } from '../hub-client.ts';
import { emptyPrivate } from '../isolation/isolation.ts';
import { findConflicts } from '../landing/find-conflicts.ts';
import { landWork } from '../landing/land-work.ts';
import type { PatchToUpload, SharedPatches } from '../loops/outbox.ts';
import { nameOf } from '../offered-tools.ts';
import { removeToolTree } from '../process/tool-file.ts';
import { admitUser } from '../process/tool-user.ts';
import { placeFindings } from '../review/reviewed-commit.ts';
import { answersOf, readFates } from '../review/round-review.ts';
import { tearDown } from '../setup/set-up.ts';
import { addSpares } from '../setup/setup-cache.ts';
import type { SetupEnd } from '../setup/setup-pauses.ts';
import { isDiskFull, jobDirectory } from '../state-directory.ts';
import { attemptKey, type ClaimedJob, type StopReason } from './attempt.ts';
import { budgetLeft, findOverspent } from './job-budget.ts';
import { openJobLog } from './job-log.ts';
import { isReadOnlyJob } from './job-prompt.ts';
import {
  completionOf,
  isUnreported,
  type JobResult,
  readResult,
  resultOfCancel,
  resultOfFailure,
  resultOfStop,
} from './job-result.ts';
import { performSteps } from './job-steps.ts';
import {
  type AttemptParts,
  JobFailure,
  type JobSettings,
  JobStopped,
  type JobWork,
  warmWorktreesFor,
} from './job-work.ts';
import { createRedactor } from './redaction.ts';
import { keepResultRecord } from './result-record.ts';
import type { CommentAnswer } from './tool-report.ts';
import { openToolSession, sessionPath, type ToolSession } from './tool-session.ts';
import { keepWorkRecord } from './work-record.ts';

/** Input of one attempt's work. */
export interface JobRunOptions extends AttemptParts {
  repository: RepositoryMapping;
  logBytesMax: number;
  onLogGrowth(): void;
  /** The job must be stopped: it has cost more than its budget. */
  onOverspent(why: string): void;
}

/** Why the work was stopped, with a message for people. */
export interface JobStop {
  reason: StopReason;
  why: string;
}

export interface JobEnd {
  /** The request to send; null when this agent may not report (canceled, lease lost). */
  completion: CompleteBody | null;
  /** The patches to upload with it. */
  patches: SharedPatches;
  /** Of the tool, to review comments; sent before the completion. */
  answers: readonly CommentAnswer[];
  /** The tool's own failure, for every outcome of the job. */
  toolFailure: ToolFailure | null;
  /** Absent: the attempt has not come so far, or its repository has no set-up. */
  setupEnd?: SetupEnd | undefined;
  /** Removes the worktree. Separate, because the result must be stored on disk first. */
  cleanUp(): Promise<void>;
}

/**
 * Runs one attempt, from its prompt to its evidence.
 *
 * On return, all changes are on the job's branch in the person's clone, even after a failure or a
 * stop. Only changes of a read-only job, or of one that was canceled while its tool ran, are
 * discarded.
 */
export async function runJob(options: JobRunOptions): Promise<JobEnd> {
  const work = await openWork(options);
  let isKept = false;
  try {
    let result = await readOutcome(work, options);
    let evidence: GitEvidence = { changedFiles: [] };
    let patches: SharedPatches = {};
    try {
      evidence = await saveInAnyCase(work, stopOf(options.signal)?.reason ?? null);
      ({ evidence, patches } = await shareChanges(work, evidence));
    } catch (error) {
      isKept = true;
      const failure = await keepWork(work, error);
      result &&= resultOfFailure(failure);
    }
    evidence = { ...evidence, ...(await placeFindings(work)) };
    if (result?.outcome === 'done' && !isKept) {
      evidence = {
        ...evidence,
        ...(await landWork(work, evidence)),
        ...(await findConflicts(work, evidence)),
      };
      const stopped = stopOf(options.signal);
      if (stopped !== null && isUnreported(stopped.reason)) result = null;
    }
    const canceled = stopOf(options.signal)?.reason === 'canceled' ? resultOfCancel(work) : null;
    const reported = result ?? canceled;
    const fates = reported === null || isKept ? [] : await readFates(work, evidence.commitSha);
    const completion = reported === null ? null : completionOf(work, reported, evidence, fates);
    if (completion !== null) await keepSession(work);
    const toolFailure = work.executorReport?.failure ?? null;
    const stop = stopOf(options.signal)?.reason ?? null;
    await tearDown(work);
    const isLeft = isKept || isContinuable(work, result, stop);
    const clean = isLeft ? () => Promise.resolve() : await endWorktree(work);
    const { setupEnd } = work;
    const answers = answersOf(work);
    return { completion, patches, answers, toolFailure, setupEnd, cleanUp: clean };
  } finally {
    await tearDown(work);
    await work.log.close();
  }
}

export async function openWork(options: JobRunOptions): Promise<JobWork> {
  const { settings, claimed, signal, leaseConfirmed, report, onModelAnswer } = options;
  const key = attemptKey(claimed.jobId, claimed.claimGeneration);
  const directory = jobDirectory(settings.state, key);
  // An attempt starts with an empty directory; existing files are from an interrupted start.
  await removeToolTree(directory.path);
  await mkdir(directory.path, { recursive: true, mode: 0o700 });
  await admitUser(directory.path, settings.toolUser);
  const session = await openSession(settings, claimed, key);
  const redactor = createRedactor([settings.token ?? '', claimed.jobToken ?? '']);
  redactor.learn(settings.env);
  const log = await openJobLog({
    file: directory.logFile,
    redactor,
    clock: settings.clock,
    bytesMax: options.logBytesMax,
    onGrowth: options.onLogGrowth,
  });
  const work: JobWork = {
    settings,
    claimed,
    signal,
    leaseConfirmed,
    report,
    onModelAnswer,
    redactor,
    log,
    directory: { ...directory, ...placesOf(session) },
    ...(session === undefined ? {} : { session }),
    repository: repositoryFor(claimed.job, options.repository),
    configured: options.repository,
    branch: session?.branch ?? branchOf(key),
    isReadOnly: !settings.canWrite || isReadOnlyJob(claimed.job),
    mark: randomBytes(16).toString('hex'),
    env: {},
    budgetUsd: budgetLeft(claimed.job),
    onUsage(usage) {
      work.usage = usage;
      const overspent = findOverspent(work, usage);
      if (overspent !== null) options.onOverspent(overspent.message);
    },
    tail: { stdout: '', stderr: '' },
  };
  return work;
}

/** A job that names a branch begins and lands there, and not where the others do. */
function repositoryFor({ baseBranch }: Job, repository: RepositoryMapping): RepositoryMapping {
  if (baseBranch === undefined) return repository;
  const { into: _, ...landing } = repository.landing ?? {};
  return { ...repository, baseRef: baseBranch, landing };
}

async function openSession(
  settings: JobSettings,
  claimed: ClaimedJob,
  key: string,
): Promise<ToolSession | undefined> {
  const { executor, state } = settings;
  // A landing starts no tool.
  if (executor.hasSessions !== true || claimed.job.landsJobId) return undefined;
  const branch = branchOf(key);
  const session = await openToolSession({
    state,
    claimed,
    branch,
    executor: executor.name,
    tool: nameOf(executor),
  });
  await admitUser(sessionPath(state, claimed.job), settings.toolUser);
  return session;
}

/** The files of a session stay where they are, so that the tool finds them at the same place. */
function placesOf(session: ToolSession | undefined) {
  if (session === undefined) return {};
  const { worktree, evidenceDir, attachments } = session;
  return { worktree, evidenceDir, attachments };
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

/** A wrapped tool may have filled the disk with files that only it has seen: they make room. */
async function saveInAnyCase(work: JobWork, stopped: StopReason | null): Promise<GitEvidence> {
  try {
    return await saveWork(work, stopped);
  } catch (error) {
    if (!isDiskFull(error) || !work.wrap) throw error;
    const { isolation } = work.settings;
    await emptyPrivate(work.directory.privateDir, isolation.user);
    await work.log.note(
      'signalbox: the disk was full: the temporary files of the tool are deleted.',
    );
    return await saveWork(work, stopped);
  }
}

/** Commits leftover changes, reads the evidence and publishes the branch to the person's clone. */
async function saveWork(work: JobWork, stopped: StopReason | null): Promise<GitEvidence> {
  const { worktree } = work;
  if (worktree === undefined || stopped === 'canceled') return { changedFiles: [] };
  const repository = await openToolRepository(worktree);
  const changes = await readChanges(repository);
  if (work.isReadOnly) {
    if (changes.hasLeftovers || changes.headSha !== worktree.baseSha) {
      await work.log.note('signalbox: this job is read-only; its changes are discarded.');
    }
    return { changedFiles: [] };
  }
  const found = await findSecrets(work, repository, changes);
  const commitSha = await commitLeftovers(repository, changes, work.claimed.job);
  const workBaseSha = work.round?.branch?.workBaseSha;
  const imported = await importCommits(repository, commitSha, workBaseSha);
  const secretsIn = found === null || found.length === 0 ? {} : { secretsIn: found };
  const evidence: GitEvidence = { ...imported, ...secretsIn };
  // Durable, before the branch is moved there: the next attempt must know it as its own.
  await keepResult(work, evidence, found !== null);
  if (evidence.commitSha !== undefined) evidence.branch = await publish(work, worktree, commitSha);
  if (changes.hasLeftovers && !(await moveHead(repository, commitSha))) {
    await work.log.note('signalbox: the worktree keeps the HEAD that the command left.');
  }
  return evidence;
}

/**
 * Publishes the commits of a job on its branch. A branch that a person has checked out, or moved
 * since the job began, is not touched: the attempt gets a branch of its own.
 *
 * @returns the name of the branch.
 */
async function publish(work: JobWork, worktree: Worktree, commitSha: string): Promise<string> {
  const { session, claimed, log, round } = work;
  const { branch, baseSha } = worktree;
  const own = branchOf(claimed.key);
  const begun = round?.branch?.headSha ?? baseSha;
  const known = [baseSha, begun, ...(session?.published ?? [])];
  if (branch === own || (await isUntouched(worktree, known))) {
    await session?.keepPublished(commitSha);
    await publishBranch(worktree, commitSha);
    return branch;
  }
  await publishBranch({ ...worktree, branch: own }, commitSha);
  const why = 'was moved or checked out in the clone while the job ran';
  await log.note(`signalbox: ${branch} ${why}: the commits are on ${own}.`);
  return own;
}

/** Adds to the evidence what people at the hub may see of the changes. */
async function shareChanges(
  work: JobWork,
  evidence: GitEvidence,
): Promise<{ evidence: GitEvidence; patches: SharedPatches }> {
  const { worktree, repository, directory } = work;
  const { shareChanges: share = 'stat' } = repository;
  const { commitSha, baseSha, roundBaseSha } = evidence;
  const isShared = share !== 'names' && worktree !== undefined;
  if (!isShared || commitSha === undefined || baseSha === undefined) {
    return { evidence, patches: {} };
  }
  const range = { mirror: worktree.mirror, baseSha, commitSha };
  const counted = { ...evidence, files: await countLines(range) };
  if (share !== 'patch') return { evidence: counted, patches: {} };
  const patch = await writePatch(work, range, directory.patchFile);
  if (patch === null || roundBaseSha === undefined) {
    return { evidence: counted, patches: patch === null ? {} : { patch } };
  }
  const ofRound = { ...range, baseSha: roundBaseSha };
  const roundPatch = await writePatch(work, ofRound, directory.roundPatchFile);
  const patches = { patch, ...(roundPatch === null ? {} : { roundPatch }) };
  return { evidence: counted, patches };
}

/** Returns null if there is nothing to share. */
async function writePatch(
  { redactor, log }: JobWork,
  range: CommitRange,
  file: string,
): Promise<PatchToUpload | null> {
  const patch = await makePatch(range, redactor);
  if (patch === null || patch.text === '') {
    await log.note('signalbox: the changes are too large to be shared as a patch.');
    return null;
  }
  await writeFile(file, patch.text, { mode: 0o600 });
  return { filesOmitted: patch.filesOmitted };
}

/** Keeps what the agent may share of the result later. It can be sent without. */
async function keepResult(
  { settings, claimed, log }: JobWork,
  evidence: GitEvidence,
  isSearched: boolean,
): Promise<void> {
  try {
    await keepResultRecord(settings.state, claimed.job, evidence, isSearched);
  } catch (error) {
    const why = (error as Error).message;
    await log.note(`signalbox: the patch cannot be shared on request later: ${why}`);
  }
}

/** Keeps the session of the tool for the next round of the work, which can also do without it. */
async function keepSession({ session, settings, claimed, log }: JobWork): Promise<void> {
  if (!session?.sessionId) return;
  const { workspaceId, jobId, job } = claimed;
  const { name: executor } = settings.executor;
  const tool = nameOf(settings.executor);
  const { sessionId, costUsd } = session;
  const record = { workspaceId, jobId, executor, tool, sessionId, costUsd };
  try {
    await keepWorkRecord(settings.state, job, record);
  } catch (error) {
    // A result that is never sent would cost the work of this round.
    const why = (error as Error).message;
    await log.note(`signalbox: the session of the tool is not kept for the next round: ${why}`);
  }
}

/** Whether the next attempt of the job may continue the session on this machine. */
function isContinuable(work: JobWork, result: JobResult | null, stop: StopReason | null): boolean {
  if (work.session === undefined) return false;
  if (stop === 'agent_stopped' || stop === 'lease_lost') return true;
  const reason = result?.outcomeReason;
  const isRetried = typeof reason === 'object' && reason.retryable === true;
  return result?.outcome === 'blocked' || isRetried;
}

/**
 * Names the changed files with secrets; null if they could not be searched. The commits stay on
 * this machine, so they are kept.
 */
async function findSecrets(
  { redactor, log }: JobWork,
  repository: ToolRepository,
  changes: ToolChanges,
): Promise<string[] | null> {
  const found = await findInChanges(repository, changes, (text) => redactor.finds(text));
  if (found === null) {
    await log.note('signalbox: the changes could not be searched for secrets.');
    return null;
  }
  for (const name of found) {
    await log.note(`signalbox: ${name} contains a secret of this agent; do not push it.`);
  }
  return found;
}

/**
 * Takes the worktree out of the directory of the attempt.
 *
 * @returns what keeps its files for later jobs, and deletes the rest.
 */
export async function endWorktree(work: JobWork): Promise<() => Promise<void>> {
  const { worktree, directory, settings, repository } = work;
  const warm = warmWorktreesFor(work);
  const aside =
    worktree === undefined
      ? null
      : await setAside(warm, { path: worktree.path, gitDir: worktree.evidenceDir });
  return async () => {
    if (aside !== null) await keepWarm(warm, aside);
    await removeWorktree(mirrorOf(settings.state, repository), directory.worktree, work.branch);
    await work.session?.remove();
    // Of jobs that began together, a later one may have taken the spare of an earlier one.
    const { length: count } = await listWarm(warm.path);
    for (const cache of work.setupCaches ?? []) await addSpares(cache, count);
  };
}

/** Keeps the worktree when it cannot be published (clone deleted, merge left unfinished). */
async function keepWork(work: JobWork, error: unknown): Promise<JobFailure> {
  const { worktree, settings, claimed } = work;
  let where = '';
  if (worktree !== undefined) {
    const target = join(settings.state.kept, claimed.key);
    await keepWorktree(worktree, target);
    where = ` The worktree is kept in ${target}.`;
  }
  const summary = `The changes could not be published to the clone: ${(error as Error).message}${where}`;
  await work.log.note(`signalbox: ${summary}`);
  return new JobFailure('environment', 'evidence_failed', summary);
}

export function stopOf(signal: AbortSignal): JobStop | null {
  // The caller always aborts with a JobStop, see JobRunOptions.signal.
  return signal.aborted ? (signal.reason as JobStop) : null;
}
