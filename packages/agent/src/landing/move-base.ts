import { askGit, GitError, runGit } from '../git/git.ts';
import { JobFailure } from '../job/job-work.ts';

/**
 * Moves a branch of the person's clone forward. Where it is checked out, git moves the files too,
 * and refuses if those of the person are in the way.
 *
 * @returns false: the branch is not at the old commit any more.
 */
export async function moveBase(
  clonePath: string,
  base: string,
  oldSha: string,
  newSha: string,
): Promise<boolean> {
  const ref = `refs/heads/${base}`;
  const clone = { cwd: clonePath, isAfterTool: true } as const;
  const readHead = () => askGit(['rev-parse', '--verify', '--quiet', ref], clone);
  if ((await readHead()) !== oldSha) return false;
  const place = await findCheckout(clonePath, ref);
  try {
    if (place === null) await runGit(['update-ref', ref, newSha, oldSha], clone);
    // With the settings of the person, by which git writes their files.
    else await runGit(['merge', '--ff-only', '--quiet', newSha], { cwd: place });
    return true;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if ((await readHead()) !== oldSha) return false;
    if (place === null) throw error;
    const why = `${base} is checked out, and files there are in the way: ${error.message}`;
    const way = 'Commit or stash them, then land the work again.';
    throw new JobFailure('environment', 'clone_not_clean', `${why} ${way}`);
  }
}

/** The work tree that has a branch checked out: the clone, or one that was added to it. */
async function findCheckout(clonePath: string, ref: string): Promise<string | null> {
  const git = { cwd: clonePath, isAfterTool: true } as const;
  const listed = await runGit(['worktree', 'list', '--porcelain', '-z'], git);
  for (const entry of listed.split('\0\0')) {
    const lines = entry.split('\0');
    if (!lines.includes(`branch ${ref}`)) continue;
    return lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length) ?? null;
  }
  return null;
}
