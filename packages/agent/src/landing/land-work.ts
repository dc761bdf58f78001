import type { EvidenceCheck, Verdict } from '@signalbox/contract';
import { askGit, GitError } from '../git/git.ts';
import { type GitEvidence, listDifferences } from '../git/git-evidence.ts';
import type { Worktree } from '../git/git-worktree.ts';
import type { JobWork } from '../job/job-work.ts';
import { fitText } from '../job/text-limits.ts';
import { describe } from './describe-check.ts';
import {
  CHECKS_MAX,
  type CheckCommand,
  type LandingEvidence,
  type LandingOptions,
} from './landing-options.ts';
import { openPullRequest } from './pull-request.ts';
import { LandingError, pushBranch } from './push-branch.ts';
import { ChecksFileError, readRepositoryChecks } from './repository-checks.ts';
import { runCheck } from './run-check.ts';

const GAP_BYTES_MAX = 900;
/** Files that a gap names; the rest is counted. */
const FILES_SHOWN = 3;

/**
 * Proves the commit of a finished job, which is in the clone already: runs the checks, and says
 * what is missing. A failing check never fails the job: the work is done, and people judge it.
 *
 * @returns null if there is nothing to prove.
 */
export async function landWork(
  work: JobWork,
  evidence: GitEvidence,
): Promise<(LandingEvidence & { checks?: EvidenceCheck[] }) | null> {
  const { worktree, redactor } = work;
  const { commitSha } = evidence;
  if (work.isReadOnly || worktree === undefined || commitSha === undefined) return null;
  const checksSha = await findChecksCommit(work, worktree);
  const range = { baseSha: worktree.baseSha, commitSha };
  const { checks, gaps } = await proveCommit(work, worktree, range, checksSha);
  const pushed = await publish(work, evidence, { checks, gaps });
  const shown = gaps.map((gap) => fitText(redactor.redact(gap), GAP_BYTES_MAX));
  for (const gap of shown) await work.log.note(`signalbox: not proved: ${gap}`);
  return {
    verdict: judge(checks, gaps),
    ...pushed,
    ...(checks.length === 0 ? {} : { checks }),
    ...(gaps.length === 0 ? {} : { gaps: shown }),
  };
}

/**
 * The newest commit of the configured branch that the work builds on. A later round, or a job that
 * builds on another, begins with commits of tools, which do not choose what proves their work.
 */
async function findChecksCommit(
  { configuredSha }: JobWork,
  { mirror, baseSha }: Worktree,
): Promise<string> {
  if (configuredSha === undefined) return baseSha;
  const git = { gitDir: mirror.gitDir, isAfterTool: true } as const;
  return (await askGit(['merge-base', baseSha, configuredSha], git)) ?? configuredSha;
}

/**
 * Runs the checks on the files of a worktree, which are those of a commit.
 *
 * @param checksSha the commit whose list of checks counts.
 */
export async function proveCommit(
  work: JobWork,
  worktree: Worktree,
  { baseSha, commitSha }: { baseSha: string; commitSha: string },
  checksSha: string,
): Promise<{ checks: EvidenceCheck[]; gaps: string[] }> {
  const gaps: string[] = [];
  const { landing = {} } = work.repository;
  const commands = await chooseChecks(landing, { ...worktree, baseSha: checksSha }, gaps);
  if (commands.length > 0) gaps.push(...(await findDifferences(worktree, commitSha)));
  work.env = { ...work.env, SIGNALBOX_BASE_SHA: baseSha, SIGNALBOX_COMMIT_SHA: commitSha };
  const checks: EvidenceCheck[] = [];
  for (const command of commands) checks.push(await runCheck(work, command));
  for (const { name, outcome, exitCode } of checks) {
    if (outcome !== 'passed') gaps.push(`Check ${name} ${describe(outcome, exitCode)}.`);
  }
  return { checks, gaps };
}

/** Pushes the branch and opens a pull request, as far as the person wants. A failure is a gap. */
async function publish(
  work: JobWork,
  evidence: GitEvidence,
  { checks, gaps }: { checks: readonly EvidenceCheck[]; gaps: string[] },
): Promise<{ pushedTo?: string; pullRequestUrl?: string }> {
  const { push, pullRequest } = work.repository.landing ?? {};
  if (push !== true && pullRequest !== true) return {};
  const published: { pushedTo?: string; pullRequestUrl?: string } = {};
  try {
    const target = await pushBranch(work, evidence);
    published.pushedTo = target.remote;
    if (pullRequest === true) {
      published.pullRequestUrl = await openPullRequest(work, target, { checks, gaps });
    }
  } catch (error) {
    if (!(error instanceof LandingError) && !(error instanceof GitError)) throw error;
    gaps.push(error.message);
  }
  return published;
}

export function judge(checks: readonly EvidenceCheck[], gaps: readonly string[]): Verdict {
  if (gaps.length > 0) return 'gaps';
  return checks.length === 0 ? 'unverified' : 'verified';
}

/** The checks of the agent, then those of the repository. A list that cannot be read is a gap. */
async function chooseChecks(
  { checks = [], repositoryChecks }: LandingOptions,
  worktree: Worktree,
  gaps: string[],
): Promise<readonly CheckCommand[]> {
  if (repositoryChecks !== true) return checks;
  try {
    const all = [...checks, ...(await readRepositoryChecks(worktree))];
    if (all.length > CHECKS_MAX) {
      gaps.push(`Of ${all.length} checks, only the first ${CHECKS_MAX} ran.`);
    }
    return all.slice(0, CHECKS_MAX);
  } catch (error) {
    if (!(error instanceof ChecksFileError)) throw error;
    gaps.push(`The repository's checks did not run: ${error.message}`);
    return checks;
  }
}

/** Checks run on files, and prove a commit only if the files are those of the commit. */
async function findDifferences(worktree: Worktree, commitSha: string): Promise<string[]> {
  try {
    const names = await listDifferences(worktree, commitSha);
    if (names.length === 0) return [];
    const more = names.length > FILES_SHOWN ? ', …' : '';
    const shown = names.slice(0, FILES_SHOWN).join(', ');
    return [`The checks ran on files that differ from the commit: ${shown}${more}.`];
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return [`The worktree could not be compared with the commit: ${error.message}`];
  }
}
