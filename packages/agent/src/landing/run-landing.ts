import { isCommit } from '../git/git.ts';
import { mirrorOf, refreshMirror } from '../git/git-mirror.ts';
import { findHead } from '../git/work-branch.ts';
import { fenceOf } from '../job/attempt.ts';
import { readJob } from '../job/job-commit.ts';
import { isUnreported, resultOfFailure, resultOfStop } from '../job/job-result.ts';
import { endWorktree, type JobEnd, type JobRunOptions, openWork, stopOf } from '../job/job-run.ts';
import { confirmLease, failureOf, writePrompt } from '../job/job-steps.ts';
import { JobFailure, JobStopped, type JobWork } from '../job/job-work.ts';
import { isBranchOf, readBuildsOn } from '../job/round.ts';
import { fitText } from '../job/text-limits.ts';
import { sessionPath } from '../job/tool-session.ts';
import { removeToolTree } from '../process/tool-file.ts';
import { findConfiguredCommit } from '../setup/committed-setup.ts';
import { tearDown } from '../setup/set-up.ts';
import type { ApprovedWork, Landing } from './approved-work.ts';
import { chooseBase } from './base-branch.ts';
import { landCommit } from './land-commit.ts';

const MESSAGE_BYTES_MAX = 8_000;

/** Lands the approved commit of a work. No tool is started. */
export async function runLanding(options: JobRunOptions): Promise<JobEnd> {
  const work = await openWork(options);
  const found: Landing = { evidence: {} };
  try {
    const { message, failure } = await tryToLand(work, found);
    const stop = stopOf(options.signal);
    const isSilent = stop !== null && isUnreported(stop.reason) && found.landing === undefined;
    const { claimed, redactor } = work;
    const stopped = stop === null ? null : resultOfStop(stop.reason, stop.why);
    const failed = failure === null ? null : (stopped ?? resultOfFailure(failure));
    const text = failed?.message ?? message;
    const completion = isSilent
      ? null
      : {
          ...fenceOf(claimed),
          outcome: failed === null ? ('done' as const) : ('failed' as const),
          message: fitText(redactor.redact(text), MESSAGE_BYTES_MAX),
          ...(failed?.outcomeReason === undefined ? {} : { outcomeReason: failed.outcomeReason }),
          evidence: { changedFiles: [], ...found.evidence },
          ...(found.landing === undefined ? {} : { landing: found.landing }),
        };
    await tearDown(work);
    const cleanUp = await endWorktree(work);
    const { setupEnd } = work;
    return { completion, patches: {}, answers: [], toolFailure: null, setupEnd, cleanUp };
  } finally {
    await tearDown(work);
    await work.log.close();
  }
}

async function tryToLand(
  work: JobWork,
  found: Landing,
): Promise<{ message: string; failure: JobFailure | null }> {
  try {
    const message = await land(work, found);
    await work.log.note(`signalbox: ${message}`);
    return { message, failure: null };
  } catch (error) {
    const failure =
      error instanceof JobStopped || work.signal.aborted
        ? new JobFailure('agent', 'agent_stopped', 'The landing was stopped.')
        : failureOf('land the work', error);
    if (!(failure instanceof JobFailure)) throw error;
    await work.log.note(`signalbox: ${failure.message}`);
    return { message: failure.message, failure };
  }
}

/** @returns what has happened, in a sentence. */
async function land(work: JobWork, found: Landing): Promise<string> {
  const { settings, repository, signal } = work;
  await writePrompt(work);
  await confirmLease(work);
  if (signal.aborted) throw new JobStopped();
  const approved = await readApproved(work);
  const mirror = mirrorOf(settings.state, repository);
  const begin = await refreshMirror(mirror, repository, settings.toolUser, signal);
  await findConfiguredCommit(work, mirror, begin);
  const base = await chooseBase(repository);
  if (base === null) {
    const why = 'The clone has no default branch, and landing.into is not set';
    throw new JobFailure('environment', 'no_base', `${why}: set it in the agent's configuration.`);
  }
  await work.log.note(`signalbox: lands in ${base.name}, ${base.why}.`);
  const head = await findHead(mirror, { gitDir: mirror.gitDir, signal }, approved);
  const message = await landCommit(work, approved, { base: base.name, head, found });
  await removeToolTree(sessionPath(settings.state, approved.round));
  return message;
}

/** Reads the approval from the hub, and the branch from the evidence of its round. */
async function readApproved(landing: JobWork): Promise<ApprovedWork> {
  const { job } = landing.claimed;
  const jobId = job.landsJobId ?? '';
  const { job: round, work, rounds = [] } = await readJob(landing, jobId);
  const approval = work?.approval;
  if (work === undefined || approval == null || approval.jobId !== jobId) {
    throw new JobFailure('execution', 'not_approved', 'The work is not approved any more.');
  }
  const { branch, pushedTo } = round.evidence ?? {};
  const jobIds = [work.workJobId, jobId, ...rounds.map((each) => each.jobId)];
  if (!isBranchOf(jobIds, branch) || !isCommit(approval.commitSha)) {
    const why = 'The evidence of the round names no branch of this work';
    throw new JobFailure('execution', 'no_branch', `${why}: merge it by hand.`);
  }
  const title = job.title.replace(/^Land: /, '');
  const mayFailChecks = approval.override !== null && round.verdict !== 'verified';
  const isPushed = typeof pushedTo === 'string';
  const builtOn = readBuildsOn(round)?.jobs ?? [];
  return { round, title, approval, branch, isPushed, builtOn, mayFailChecks };
}
