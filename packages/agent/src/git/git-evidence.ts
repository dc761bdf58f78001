import type { Evidence } from '@signalbox/contract';
import { runGit } from './git.ts';
import type { Worktree } from './git-worktree.ts';

/** Evidence of a job's changes, read from git only, never from the tool's own claims. */
export interface GitEvidence extends Evidence {
  changedFiles: string[];
  branch?: string;
  /** Number of changed files left out of `changedFiles`. */
  changedFilesOmitted?: number;
}

/** Half of a request body. The rest is for the message and the reason. */
const CHANGED_FILES_BYTES_MAX = 100_000;
const CHANGED_FILES_MAX = 10_000;
const SUBJECT_CHARS_MAX = 72;

/** Whether the worktree has uncommitted changes, apart from ignored files. */
export async function hasUncommittedChanges(worktree: Worktree): Promise<boolean> {
  const status = await runGit(['status', '--porcelain', '-z'], { cwd: worktree.path });
  return status !== '';
}

/** Commits the tool's uncommitted changes under the identity of the agent's owner. */
export async function commitLeftovers(
  worktree: Worktree,
  job: { jobId: string; prompt: string },
): Promise<void> {
  const git = { cwd: worktree.path };
  await runGit(['add', '--all'], git);
  const message = `${subjectOf(job.prompt)}\n\nSignalbox-Job: ${job.jobId}\n`;
  // No hooks and no signing: both may prompt, and no person can answer.
  await runGit(
    ['-c', 'commit.gpgSign=false', 'commit', '--quiet', '--no-verify', '--cleanup=verbatim'].concat(
      '--message',
      message,
    ),
    git,
  );
}

/**
 * Returns the last commit and the files changed since the job began. Without new commits,
 * `commitSha` is absent.
 */
export async function collectEvidence(worktree: Worktree): Promise<GitEvidence> {
  const git = { cwd: worktree.path };
  const headSha = (await runGit(['rev-parse', '--verify', 'HEAD^{commit}'], git)).trim();
  // Count commits after the base: a tool that only moved back in history has done nothing.
  const ahead = await runGit(['rev-list', '--count', `${worktree.baseSha}..${headSha}`], git);
  if (Number(ahead) === 0) return { changedFiles: [] };
  // The tool may have left the branch (a detached head, its own branch). Its last commit is still
  // the result, and people look for it on the job's branch.
  await runGit(['update-ref', `refs/heads/${worktree.branch}`, headSha], git);
  const listed = await runGit(
    ['diff', '--name-only', '-z', '--no-renames', `${worktree.baseSha}..${headSha}`],
    git,
  );
  const all = listed.split('\0').filter((name) => name !== '');
  const changedFiles = takeFitting(all);
  return {
    commitSha: headSha,
    changedFiles,
    branch: worktree.branch,
    ...(changedFiles.length < all.length
      ? { changedFilesOmitted: all.length - changedFiles.length }
      : {}),
  };
}

function takeFitting(names: readonly string[]): string[] {
  let bytes = 0;
  const fitting: string[] = [];
  for (const name of names.slice(0, CHANGED_FILES_MAX)) {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1;
    if (bytes > CHANGED_FILES_BYTES_MAX) break;
    fitting.push(name);
  }
  return fitting;
}

function subjectOf(prompt: string): string {
  const line = prompt.split('\n').find((text) => text.trim() !== '') ?? '';
  const subject = line.trim().replaceAll('\0', '');
  if (subject === '') return 'Changes of a Signalbox job';
  if (subject.length <= SUBJECT_CHARS_MAX) return subject;
  return `${subject.slice(0, SUBJECT_CHARS_MAX - 1).toWellFormed()}…`;
}
