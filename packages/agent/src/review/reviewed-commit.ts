import { FINDING_LINE_CHARS_MAX } from '@signalbox/contract';
import { GitError, type GitOptions, isCommit, runGit } from '../git/git.ts';
import type { Mirror } from '../git/git-mirror.ts';
import { bringCommit, commitOf, readJob } from '../job/job-commit.ts';
import { JobFailure, type JobWork, type Round } from '../job/job-work.ts';
import type { Finding } from '../job/tool-report.ts';

/** Longer files are not searched for the line of a finding. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

/** Finds the commit that a review reviews, and composes what its tool is told of it. */
export async function openReviewed(work: JobWork, mirror: Mirror): Promise<Round | null> {
  const { claimed, log } = work;
  const { reviewsJobId: jobId, round: number } = claimed.job;
  if (jobId === undefined) return null;
  const read = await readJob(work, jobId);
  const { baseSha } = read.job.evidence ?? {};
  const commitSha = commitOf(read.job);
  if (commitSha === null) throw missing(`Job ${jobId} has no commit to review.`);
  if (!(await bringCommit(work, mirror, read, commitSha))) {
    throw missing(`The commit ${commitSha} of job ${jobId} is not in this clone or its origin.`);
  }
  const begins = `You review the commit ${commitSha}, with which the worktree begins.`;
  const change = isCommit(baseSha)
    ? ` The change to review: git diff ${baseSha} ${commitSha}. Name files by their paths from the` +
      ' top of the repository, and lines as they are in this commit.'
    : '';
  await log.note(`signalbox: a review of the commit ${commitSha} of job ${jobId}.`);
  const told = begins + change;
  return { number, branch: null, beginSha: commitSha, news: told, history: told };
}

function missing(summary: string): JobFailure {
  return new JobFailure('environment', 'commit_missing', summary);
}

/** A finding with the text of its line, as git has it. */
type PlacedFinding = Finding & { text?: string };

/**
 * Names the commit that a job has reviewed, for its evidence. Where the hub gets patches, its
 * findings get the text of their lines, by which they are found in a later commit.
 */
export async function placeFindings(work: JobWork): Promise<{ reviewedSha?: string }> {
  const { claimed, worktree, repository, toolReport } = work;
  if (claimed.job.reviewsJobId === undefined || worktree === undefined) return {};
  const { mirror, baseSha: reviewedSha } = worktree;
  // Otherwise the code stays on this machine.
  if (repository.shareChanges !== 'patch') return { reviewedSha };
  const git = { gitDir: mirror.gitDir, isAfterTool: true, outputBytesMax: FILE_BYTES_MAX } as const;
  const files = new Map<string, Promise<string[] | null>>();
  const placed: PlacedFinding[] = [];
  for (const finding of toolReport?.findings ?? []) {
    const { file, line } = finding;
    const lines = files.get(file) ?? readLines(git, `${reviewedSha}:${file}`);
    files.set(file, lines);
    const text = line === undefined ? undefined : (await lines)?.[line - 1];
    const isTold = text !== undefined && text.length <= FINDING_LINE_CHARS_MAX;
    placed.push(isTold ? { ...finding, text } : finding);
  }
  if (toolReport !== undefined) work.toolReport = { ...toolReport, findings: placed };
  return { reviewedSha };
}

/** Null: the commit has no such file, or one that is too long. */
async function readLines(git: GitOptions, blob: string): Promise<string[] | null> {
  try {
    const text = await runGit(['cat-file', 'blob', blob], git);
    return text.replace(/\n$/, '').split('\n');
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}
