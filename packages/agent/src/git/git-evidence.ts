import type { Evidence } from '@signalbox/contract';
import { runGit } from './git.ts';
import type { Worktree } from './git-worktree.ts';

/** Proof of what a job did, taken from git and from nothing that the tool says about itself. */
export interface GitEvidence extends Evidence {
  changedFiles: string[];
  branch?: string;
  /** How many changed files did not fit into `changedFiles`. */
  changedFilesOmitted?: number;
}

/** Half a request body: the rest is for the message and the reason. */
const CHANGED_FILES_BYTES_MAX = 100_000;
const CHANGED_FILES_MAX = 10_000;
const SUBJECT_CHARS_MAX = 72;

/** Whether the job has changed files without committing them; ignored files do not count. */
export async function hasUncommittedChanges(worktree: Worktree): Promise<boolean> {
  const status = await runGit(['status', '--porcelain', '-z'], { cwd: worktree.path });
  return status !== '';
}

/** Commits what the tool has left uncommitted, in the name of the person whose agent this is. */
export async function commitLeftovers(
  worktree: Worktree,
  job: { jobId: string; prompt: string },
): Promise<void> {
  const git = { cwd: worktree.path };
  await runGit(['add', '--all'], git);
  const message = `${subjectOf(job.prompt)}\n\nSignalbox-Job: ${job.jobId}\n`;
  // Neither hooks nor signing: both may ask the person, who is not there.
  await runGit(
    ['-c', 'commit.gpgSign=false', 'commit', '--quiet', '--no-verify', '--cleanup=verbatim'].concat(
      '--message',
      message,
    ),
    git,
  );
}

/** The commit and the files that it changed since the job began; no commit, no `commitSha`. */
export async function collectEvidence(worktree: Worktree): Promise<GitEvidence> {
  const git = { cwd: worktree.path };
  const headSha = (await runGit(['rev-parse', '--verify', 'HEAD^{commit}'], git)).trim();
  // Past the base means commits of its own: a tool that only went back in history did nothing.
  const ahead = await runGit(['rev-list', '--count', `${worktree.baseSha}..${headSha}`], git);
  if (Number(ahead) === 0) return { changedFiles: [] };
  // The tool may have left the branch (a detached head, a branch of its own): its last commit
  // is the result all the same, and the job's branch is where people look for it.
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
  if (subject === '') return 'Work of a Signalbox job';
  if (subject.length <= SUBJECT_CHARS_MAX) return subject;
  return `${subject.slice(0, SUBJECT_CHARS_MAX - 1).toWellFormed()}…`;
}
