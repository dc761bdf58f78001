import { askGit, type GitOptions, isAncestor, readCommit, runGit } from './git.ts';
import { type Mirror, newerOf, withMirror } from './git-mirror.ts';

/** The branch of a piece of work, which its next round continues. */
export interface WorkBranch {
  name: string;
  /** The commit with the files that the attempt begins with. */
  headSha: string;
  /** Where the round begins: earlier attempts of it may have moved the branch. */
  roundBaseSha: string;
  /** Where the work began. */
  workBaseSha: string;
  /** Commits after those of the last round: of people. */
  foreignCommits: number;
  /** The last commit of the last round is not on it any more. */
  isRewritten: boolean;
}

interface KnownBranch {
  branch: string;
  /** The last commit of the last round. */
  commitSha: string;
  /** Where the work began, as the evidence says. */
  workBaseSha: string | null;
  /** Where new jobs begin. */
  baseSha: string;
  /** It may be at the origin only. */
  isPushed: boolean;
  /** Where the attempt began whose files this one continues; null: it has new files. */
  begunAt: string | null;
  /** The commits of an earlier attempt of this round on this machine; null: it left none. */
  left: { roundBaseSha: string; commitSha: string } | null;
}

export type FoundBranch =
  | { state: 'open'; branch: WorkBranch }
  | { state: 'merged' }
  | { state: 'deleted' };

/** Finds the branch in the mirror, which was refreshed. */
export async function findWorkBranch(
  mirror: Mirror,
  known: KnownBranch,
  signal: AbortSignal,
): Promise<FoundBranch> {
  const git = { gitDir: mirror.gitDir, signal };
  const headSha = known.begunAt ?? (await findHead(mirror, git, known));
  if (headSha === null) return { state: 'deleted' };
  // A person who has it checked out lets new jobs begin there, and has not merged it.
  const checkedOut = await askGit(['symbolic-ref', '--quiet', 'HEAD'], { cwd: mirror.clonePath });
  const isOpen = checkedOut === `refs/heads/${known.branch}`;
  if (!isOpen && (await isMerged(git, known.baseSha, headSha))) return { state: 'merged' };
  const roundBaseSha = headSha === known.left?.commitSha ? known.left.roundBaseSha : headSha;
  const isRewritten = !(await isAncestor(git, known.commitSha, roundBaseSha));
  const range = `${known.commitSha}..${roundBaseSha}`;
  const foreignCommits = isRewritten
    ? 0
    : Number(await runGit(['rev-list', '--count', range], git));
  const { workBaseSha: told } = known;
  const hasBase = told !== null && (await isAncestor(git, told, headSha));
  const workBaseSha = hasBase
    ? told
    : ((await askGit(['merge-base', known.baseSha, headSha], git)) ?? headSha);
  const found = { headSha, roundBaseSha, workBaseSha, foreignCommits, isRewritten };
  return { state: 'open', branch: { name: known.branch, ...found } };
}

/** The clone's branch; that of the origin if it continues the clone's, or if the clone has none. */
export async function findHead(
  mirror: Mirror,
  git: GitOptions,
  { branch, isPushed }: Pick<KnownBranch, 'branch' | 'isPushed'>,
): Promise<string | null> {
  const here = await readCommit(git, `refs/remotes/clone/${branch}`);
  const there =
    (await readCommit(git, `refs/remotes/origin/${branch}`)) ??
    (isPushed ? await fetchBranch(mirror, git, branch) : null);
  return await newerOf(git, here, there);
}

/** Another machine has pushed it. Null: the origin does not have it. */
export async function fetchBranch(
  mirror: Mirror,
  git: GitOptions,
  branch: string,
): Promise<string | null> {
  const ref = `refs/heads/${branch}`;
  const listed = await runGit(['ls-remote', 'origin', ref], git);
  if (listed === '') return null;
  const target = `refs/remotes/origin/${branch}`;
  await withMirror(mirror, () =>
    runGit(['fetch', '--quiet', '--no-write-fetch-head', 'origin', `+${ref}:${target}`], git),
  );
  return (await runGit(['rev-parse', target], git)).trim();
}

/** Whether merging the branch would change nothing: it is in the base, squashed or not. */
export async function isMerged(
  git: GitOptions,
  baseSha: string,
  headSha: string,
): Promise<boolean> {
  const merged = await askGit(['merge-tree', '--write-tree', baseSha, headSha], git);
  if (merged === null) return false;
  const baseTree = await runGit(['rev-parse', `${baseSha}^{tree}`], git);
  return merged.trim() === baseTree.trim();
}
