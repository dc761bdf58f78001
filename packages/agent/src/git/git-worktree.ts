import { rm } from 'node:fs/promises';
import { askGit, runGit } from './git.ts';
import { findCloneRoot, type Mirror, withMirror } from './git-mirror.ts';

/** The checkout of one attempt, on its own branch. */
export interface Worktree {
  path: string;
  branch: string;
  /** The commit that the job started from. */
  baseSha: string;
  mirror: Mirror;
}

/** The branch of an attempt, derived from its key. Each attempt has its own. */
export function branchOf(key: string): string {
  return `signalbox/${key}`;
}

export async function createWorktree(
  mirror: Mirror,
  path: string,
  branch: string,
  baseSha: string,
  signal?: AbortSignal,
): Promise<Worktree> {
  await withMirror(mirror, () =>
    runGit(['worktree', 'add', '--quiet', '-b', branch, path, baseSha], {
      gitDir: mirror.gitDir,
      signal,
    }),
  );
  return { path, branch, baseSha, mirror };
}

/**
 * Publishes a job's branch to the person's clone, so that its commits outlive the worktree. The
 * clone fetches only that ref: its checkout, index, `FETCH_HEAD`, remotes and settings stay
 * unchanged.
 */
export async function publishBranch(worktree: Worktree): Promise<void> {
  const { mirror, branch } = worktree;
  const ref = `refs/heads/${branch}`;
  const root = await findCloneRoot(mirror.clonePath);
  await withMirror(mirror, () =>
    runGit(
      ['-C', root, 'fetch', '--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head']
        .concat('--no-recurse-submodules', '--no-auto-maintenance', '--update-shallow')
        .concat(mirror.gitDir, `+${ref}:${ref}`),
    ),
  );
}

/** Moves a worktree whose branch could not be published to a place where the person can find it. */
export async function keepWorktree(worktree: Worktree, target: string): Promise<void> {
  const { mirror, path } = worktree;
  await withMirror(mirror, () =>
    runGit(['worktree', 'move', path, target], { gitDir: mirror.gitDir }),
  );
}

/**
 * Removes the worktree and its branch in the mirror; the published branch stays in the clone. Also
 * cleans up after an interrupted attempt.
 */
export async function removeWorktree(mirror: Mirror, path: string, branch: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  const git = { gitDir: mirror.gitDir };
  await withMirror(mirror, async () => {
    if ((await askGit(['rev-parse', '--git-dir'], git)) === null) return;
    await runGit(['worktree', 'prune'], git);
    await askGit(['branch', '--quiet', '-D', branch], git);
  });
}
