import { rm } from 'node:fs/promises';
import { askGit, runGit } from './git.ts';
import { findCloneRoot, type Mirror, withMirror } from './git-mirror.ts';

/** A job's own checkout on a branch of its own. */
export interface Worktree {
  path: string;
  branch: string;
  /** The commit that the job started from. */
  baseSha: string;
  mirror: Mirror;
}

/** The branch of an attempt, by its key; no two attempts ever share one. */
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
 * Makes the branch of a job visible in the person's clone, so that its commits outlive the
 * worktree. The clone fetches that one ref: no checkout, no index, no `FETCH_HEAD`, no remote and
 * no setting of the clone is touched.
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

/** Puts a checkout whose work could not be handed over aside, with its branch, for the person. */
export async function keepWorktree(worktree: Worktree, target: string): Promise<void> {
  const { mirror, path } = worktree;
  await withMirror(mirror, () =>
    runGit(['worktree', 'move', path, target], { gitDir: mirror.gitDir }),
  );
}

/**
 * Removes the checkout and the mirror's branch; what was published stays in the clone. Works on
 * whatever an interrupted attempt has left.
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
