import { execFileSync } from 'node:child_process';

export interface Changes {
  /** The revision that the files are compared with, for the summary. */
  readonly base: string;
  /** Changed, added and deleted files, as paths relative to the root. */
  readonly changed: readonly string[];
  /** Every file of the working tree that git does not ignore. */
  readonly files: readonly string[];
}

/**
 * Lists what has changed in the working tree since `revision`; without one, since the branch left
 * `main`. Changes that are not committed count, and files that are new.
 *
 * @throws a sentence for people when this is no git repository or has no such revision.
 */
export function readChanges(root: string, revision: string): Changes {
  const git = (...args: string[]) => {
    try {
      const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
      return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio });
    } catch (error) {
      const { stderr } = error as { stderr?: string };
      throw new Error(`--changed asks git, which says: ${String(stderr ?? error).trim()}`);
    }
  };
  const listOf = (...args: string[]) =>
    git(...args)
      .split('\0')
      .filter((path) => path !== '');
  const base = revision === '' ? findBase(git) : revision;
  const untracked = listOf('ls-files', '-z', '--others', '--exclude-standard');
  const compared = listOf('diff', '-z', '--name-only', '--no-renames', base, '--');
  return {
    base,
    changed: [...new Set([...compared, ...untracked])].sort(),
    files: [...listOf('ls-files', '-z'), ...untracked],
  };
}

/** Where the branch left `main`; without such a branch, the last commit. */
function findBase(git: (...args: string[]) => string): string {
  try {
    return git('merge-base', 'HEAD', 'main').trim();
  } catch {
    return git('rev-parse', 'HEAD').trim();
  }
}
