import { type GitOptions, isAncestor, readCommit, runGit } from '../git/git.ts';
import {
  commitEnvironment,
  findCloneRoot,
  findDefaultBranch,
  type Mirror,
  type RepositoryMapping,
  withMirror,
} from '../git/git-mirror.ts';
import { isMerged } from '../git/work-branch.ts';

/** The branch of the person's clone that works land in. */
export interface BaseBranch {
  name: string;
  /** Why it is this one, for the log. */
  why: string;
}

/**
 * Chooses the base: the configured one, that from which the job starts, or the default branch.
 * Null: none of them is a branch of a person.
 */
export async function chooseBase({
  path,
  baseRef,
  landing = {},
}: RepositoryMapping): Promise<BaseBranch | null> {
  if (landing.into !== undefined) return { name: landing.into, why: 'as configured' };
  if (baseRef === undefined) return await findDefaultBranch(path);
  return { name: baseRef.replace(/^origin\//, ''), why: 'the base of the job' };
}

/**
 * Reads where the base is now, and brings its commits into the mirror. Null: no such branch.
 *
 * @param knownSha a commit that the mirror has.
 */
export async function readBase(
  mirror: Mirror,
  name: string,
  knownSha?: string,
): Promise<string | null> {
  const ref = `refs/heads/${name}`;
  const root = await findCloneRoot(mirror.clonePath, { isAfterTool: true });
  const clone = { cwd: root, isAfterTool: true } as const;
  const sha = await readCommit(clone, ref);
  if (sha === null || sha === knownSha) return sha;
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--update-shallow'];
  const args = [...fetch, root, `+${ref}:refs/remotes/clone/${name}`];
  // Another job may refresh the mirror at the same time.
  await withMirror(mirror, () => runGit(args, { gitDir: mirror.gitDir, isAfterTool: true }));
  return sha;
}

/** The tree of a merge, or the files in which the commits conflict. Touches no file. */
export async function mergeTrees(
  git: GitOptions,
  baseSha: string,
  commitSha: string,
): Promise<{ tree: string } | { conflicts: string[] }> {
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z'];
  // Git exits with 1 if there are conflicts.
  const text = await runGit([...args, baseSha, commitSha], { ...git, exitCodes: [1] });
  const [tree = '', ...names] = text.split('\0').filter((part) => part !== '');
  return names.length === 0 ? { tree } : { conflicts: names };
}

/**
 * Whether a base has the commit of a job, also squashed.
 *
 * @param landedSha the commit by which it has landed, as the hub says.
 */
export async function hasLanded(
  git: GitOptions,
  baseSha: string,
  commitSha: string,
  landedSha: string | null = null,
): Promise<boolean> {
  if (landedSha !== null && (await isAncestor(git, landedSha, baseSha))) return true;
  return (await isAncestor(git, commitSha, baseSha)) || (await isMerged(git, baseSha, commitSha));
}

/**
 * The base as a commit that has those of jobs that were squashed into it among its parents. Git
 * then takes their changes for those of the base, and not for those of what builds on them.
 */
export async function withSquashed(
  git: GitOptions,
  baseSha: string,
  commitShas: readonly string[],
): Promise<string> {
  const squashed: string[] = [];
  for (const sha of commitShas) if (!(await isAncestor(git, sha, baseSha))) squashed.push(sha);
  if (squashed.length === 0) return baseSha;
  const parents = [baseSha, ...squashed].flatMap((sha) => ['-p', sha]);
  const args = ['commit-tree', `${baseSha}^{tree}`, ...parents, '-m', 'The base'];
  const exactEnv = commitEnvironment('2026-01-01T00:00:00Z');
  return (await runGit(args, { ...git, exactEnv })).trim();
}
