import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { untilAborted } from '../clock.ts';
import { PromptTooLongError } from '../executors/executor.ts';
import { GitError } from '../git/git.ts';
import { MissingBaseError, mirrorOf, refreshMirror } from '../git/git-mirror.ts';
import { createWorktree } from '../git/git-worktree.ts';
import { cleanEnvironment } from '../process/environment.ts';
import { ProcessStartError } from '../process/process-run.ts';
import { environmentOf, giveToUser, showToUser } from '../process/tool-user.ts';
import { openReviewed } from '../review/reviewed-commit.ts';
import { openReview } from '../review/round-review.ts';
import { findConfiguredCommit } from '../setup/committed-setup.ts';
import { setUp } from '../setup/set-up.ts';
import { downloadAttachments } from './download-attachments.ts';
import { describeBase, findJobBase } from './job-base.ts';
import { checkBudget, checkTool } from './job-budget.ts';
import { runCommand } from './job-command.ts';
import { jobVariables } from './job-environment.ts';
import { runHook } from './job-hooks.ts';
import { isolateJob } from './job-isolation.ts';
import { composePrompt } from './job-prompt.ts';
import {
  ENVIRONMENT_RETRY,
  JobFailure,
  JobStopped,
  type JobWork,
  type Round,
  warmWorktreesFor,
} from './job-work.ts';
import { recordProcess } from './process-record.ts';
import { ResultFileError } from './result-file.ts';
import { openRound } from './round.ts';
import { addEarlierReport, readToolReport } from './tool-report.ts';

/** Another machine may have the branch; a name with a mistake is not tried for long. */
const MISSING_BASE_RETRY = { ...ENVIRONMENT_RETRY, spendsAttempt: false, occurrencesMax: 3 };

/** The steps of a job, in order. Evidence and result follow in any case. */
const steps: readonly (readonly [name: string, step: (work: JobWork) => Promise<void>])[] = [
  ['write the prompt', writePrompt],
  ['confirm the lease', (work) => confirmLease(work)],
  ['download the attachments', downloadAttachments],
  ['check the tool', async (work) => checkTool(work)],
  ['check the budget', async (work) => checkBudget(work)],
  ['run the environment hook', (work) => runHook(work, 'environment', work.directory.path)],
  ['run the pre-checkout hook', (work) => runHook(work, 'pre-checkout', work.directory.path)],
  ['create the worktree', checkOut],
  ['isolate the tool', isolateJob],
  ['set up the worktree', setUpWorktree],
  ['run the pre-command hook', runPreCommandHook],
  ['run the command', runCommand],
  ['run the post-command hook', runPostCommandHook],
];

/**
 * Runs the steps in order. Throws `JobFailure` when a step fails, and `JobStopped` when the work's
 * signal fires.
 */
export async function performSteps(work: JobWork): Promise<void> {
  for (const [name, step] of steps) {
    if (work.signal.aborted) throw new JobStopped();
    try {
      await step(work);
    } catch (error) {
      if (work.signal.aborted) throw new JobStopped();
      throw failureOf(name, error);
    }
  }
  if (work.signal.aborted) throw new JobStopped();
}

export function failureOf(step: string, error: unknown): Error {
  if (error instanceof JobFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof MissingBaseError) {
    return new JobFailure('environment', 'base_unavailable', message, MISSING_BASE_RETRY);
  }
  if (error instanceof GitError) {
    return new JobFailure('environment', 'checkout_failed', message, ENVIRONMENT_RETRY);
  }
  if (error instanceof ProcessStartError) {
    return new JobFailure('environment', 'command_not_started', message, ENVIRONMENT_RETRY);
  }
  if (error instanceof PromptTooLongError) {
    return new JobFailure('environment', 'prompt_too_long', message);
  }
  const summary = `The agent could not ${step}: ${message}`;
  return new JobFailure('agent', 'agent_error', summary, ENVIRONMENT_RETRY);
}

export async function writePrompt(work: JobWork): Promise<void> {
  const { directory, settings } = work;
  const { toolUser } = settings;
  await writePromptFile(work);
  for (const folder of [directory.toolFiles, directory.notes]) {
    await mkdir(folder, { mode: 0o700 });
  }
  await recordProcess(work, null);
  await takeReport(work);
  for (const folder of [directory.toolFiles, directory.notes]) {
    await giveToUser(folder, toolUser);
  }
  setVariables(work);
  work.redactor.learn(work.env);
}

/** Takes over what the tool had noted in this session when the agent was killed. */
async function takeReport({ session, directory, settings, log }: JobWork): Promise<void> {
  if (session === undefined) return;
  try {
    const earlier = await readToolReport(session.reportFile, settings.toolUser?.uid);
    await addEarlierReport(directory.reportFile, earlier);
  } catch (error) {
    if (!(error instanceof ResultFileError)) throw error;
    await log.note(`signalbox: the report of the attempt before is left out. ${error.message}`);
  }
  // After a kill here, the report of this attempt has all of it.
  await rm(session.reportFile, { force: true });
}

async function writePromptFile({ directory, claimed, settings, round }: JobWork): Promise<void> {
  const text = composePrompt(claimed.job, directory, round?.history);
  await writeFile(directory.promptFile, text, { mode: 0o600 });
  await showToUser(directory.promptFile, settings.toolUser);
}

function setVariables(work: JobWork): void {
  const { directory, claimed, settings } = work;
  const { toolUser, baseUrl } = settings;
  const variables = jobVariables({
    claimed,
    directory,
    baseUrl,
    holdMs: settings.holdMs,
    branch: work.branch,
    mark: work.mark,
  });
  const inherited = environmentOf(toolUser, cleanEnvironment(settings.env, settings.token));
  work.env = { ...inherited, ...variables };
}

/**
 * Waits for the lease to be confirmed or the work to be stopped. An attempt must not begin while
 * its lease is in doubt.
 */
export async function confirmLease(work: JobWork): Promise<void> {
  await Promise.race([work.leaseConfirmed, untilAborted(work.signal)]);
}

async function checkOut(work: JobWork): Promise<void> {
  const { repository, settings, signal } = work;
  const mirror = mirrorOf(settings.state, repository);
  const base = await refreshMirror(mirror, repository, settings.toolUser, signal);
  await findConfiguredCommit(work, mirror, base);
  const { worktree: path, evidenceDir } = work.directory;
  const user = settings.toolUser;
  const round = (await openRound(work, base.sha)) ?? (await openReviewed(work, mirror));
  const knownBase = work.session?.baseSha ?? null;
  const continued = knownBase ?? round?.branch?.headSha ?? round?.beginSha ?? null;
  const found = continued === null ? await findJobBase(work, mirror, base) : null;
  const buildsOn = found ?? work.session?.buildsOn ?? round?.buildsOn;
  if (buildsOn !== undefined) work.buildsOn = buildsOn;
  if (found !== null) await work.log.note(`signalbox: ${describeBase(found)}`);
  const begin = continued ?? found?.commitSha ?? base.sha;
  if (round !== null) {
    work.round = await addReview(work, round, mirror.gitDir, begin);
    if (knownBase === null && round.branch !== null) work.branch = round.branch.name;
    await writePromptFile(work);
    const commentNumbers = work.review?.numbers.join(',') ?? '';
    work.env = {
      ...work.env,
      SIGNALBOX_BRANCH: work.branch,
      ...(commentNumbers === '' ? {} : { SIGNALBOX_COMMENTS: commentNumbers }),
    };
  }
  if (knownBase !== null) {
    const known = { path, evidenceDir, branch: work.branch, baseSha: knownBase, mirror, user };
    work.worktree = known;
    return;
  }
  work.beginsAtBase = begin === base.sha && work.claimed.job.baseBranch === undefined;
  const created = await createWorktree(
    { path, evidenceDir, branch: work.branch, baseSha: begin, mirror, user },
    warmWorktreesFor(work),
    signal,
  );
  work.worktree = { ...created, baseSha: round?.branch?.roundBaseSha ?? begin };
  if (existsSync(join(path, '.gitmodules'))) {
    await work.log.note('signalbox: submodules are not checked out; their folders are empty.');
  }
}

/** Kept for the next attempt once it is set up. After a failure, that one begins with new files. */
async function setUpWorktree(work: JobWork): Promise<void> {
  const { session, worktree } = work;
  const isNew = (session?.baseSha ?? null) === null;
  await setUp(work, isNew);
  if (isNew && worktree !== undefined)
    await session?.keepBase(worktree.baseSha, work.branch, work.buildsOn);
}

/** The comments come after the message of the person, and before what the earlier rounds were. */
async function addReview(
  work: JobWork,
  round: Round,
  gitDir: string,
  startSha: string,
): Promise<Round> {
  if (round.beginSha !== undefined) return round;
  const review = await openReview(work, gitDir, startSha);
  if (review === null) return round;
  work.review = review;
  if (review.text === '') return round;
  const add = (text: string) => `${review.text}\n\n${text}`;
  return { ...round, news: add(round.news), history: add(round.history) };
}

/** The tool's files are in its worktree, so hooks that run there do so as the tool's user. */
export async function runPreCommandHook(work: JobWork): Promise<void> {
  await runHook(work, 'pre-command', work.directory.worktree, true);
}

async function runPostCommandHook(work: JobWork): Promise<void> {
  const { code, signal } = work.exit ?? { code: null, signal: null };
  work.env = { ...work.env, SIGNALBOX_COMMAND_EXIT_STATUS: String(code ?? signal ?? '') };
  await runHook(work, 'post-command', work.directory.worktree, true);
}
