import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { shortId } from '../words/job-text.ts';
import { askGit, type Clone, runGit } from './clone-git.ts';

/** A branch that an agent made in this clone, for one attempt of a job. */
export interface WorkBranch {
  name: string;
  jobId: string;
  attempt: number;
  commitSha: string;
  committedAt: string;
  /** Whether some worktree of this clone has it checked out. */
  isCheckedOut: boolean;
  /** Whether merging it would change nothing. */
  isMerged: boolean;
}

/** The form in which agents name branches. */
const branchName = /^signalbox\/([A-Za-z0-9_-]+)-(\d+)$/;
const FORMAT =
  '%(refname:lstrip=2)%00%(objectname)%00%(committerdate:iso-strict)%00%(worktreepath)';
/** Shorter endings of IDs are ambiguous soon. */
const ENDING_CHARS_MIN = 4;

/** Lists the branches that agents made, those with the newest commits first. */
export async function listWorkBranches(clone: Clone): Promise<WorkBranch[]> {
  const args = ['for-each-ref', '--sort=-committerdate', `--format=${FORMAT}`];
  const listed = await runGit(clone, [...args, 'refs/heads/signalbox/']);
  const targets = await findTargets(clone);
  const branches: WorkBranch[] = [];
  for (const line of listed.split('\n')) {
    const [name = '', commitSha = '', committedAt = '', worktree = ''] = line.split('\0');
    const [, jobId, attempt] = branchName.exec(name) ?? [];
    if (jobId === undefined) continue;
    branches.push({
      name,
      jobId,
      attempt: Number(attempt),
      commitSha,
      committedAt: new Date(committedAt).toISOString(),
      isCheckedOut: worktree !== '',
      isMerged: await isMerged(clone, targets, commitSha),
    });
  }
  return branches;
}

interface Target {
  commitSha: string;
  treeSha: string;
}

/** The commits that work is merged into: the current one, and the origin's default branch. */
async function findTargets(clone: Clone): Promise<Target[]> {
  const found: Target[] = [];
  for (const ref of ['HEAD', 'refs/remotes/origin/HEAD']) {
    const names = [`${ref}^{commit}`, `${ref}^{tree}`];
    const [commitSha, treeSha] = (
      (await askGit(clone, ['rev-parse', '--quiet', '--verify', names[0] as string])) === null
        ? ''
        : await runGit(clone, ['rev-parse', ...names])
    ).split('\n');
    if (commitSha && treeSha) found.push({ commitSha, treeSha });
  }
  return found;
}

/**
 * A branch is merged if a merge would change nothing. So branches that were squashed or rebased
 * count, too. A merge with conflicts would change something.
 */
async function isMerged(
  clone: Clone,
  targets: readonly Target[],
  commitSha: string,
): Promise<boolean> {
  for (const target of targets) {
    const pair = [target.commitSha, commitSha];
    const isAncestor = ['merge-base', '--is-ancestor', commitSha, target.commitSha];
    if ((await askGit(clone, isAncestor)) !== null) return true;
    const merged = await askGit(clone, ['merge-tree', '--write-tree', ...pair]);
    if (merged === target.treeSha) return true;
    if (await isSquashed(clone, commitSha, target.commitSha)) return true;
  }
  return false;
}

/** Commits that say that they land another one; a tool may write that into many of its own. */
const SAYING_MAX = 20;

/**
 * Whether a branch has landed as one commit that was changed since. Its message says so, and its
 * tree shows it: it is what a merge of the branch would have made there.
 */
async function isSquashed(clone: Clone, commitSha: string, targetSha: string): Promise<boolean> {
  const says = ['--fixed-strings', `--grep=Signalbox-Approved: ${commitSha}`];
  const range = `${commitSha}..${targetSha}`;
  const args = ['log', `-${SAYING_MAX}`, '--format=%T %P', ...says, range];
  for (const line of ((await askGit(clone, args)) ?? '').split('\n')) {
    const [tree, parent, ...others] = line.split(' ');
    if (!parent || others.length > 0) continue;
    const merged = await askGit(clone, ['merge-tree', '--write-tree', parent, commitSha]);
    if (merged === tree) return true;
  }
  return false;
}

/**
 * Finds the branch of a job: by its name, by the job's ID, or by the end of it. Of several attempts
 * the last one is meant.
 * @throws {CliError} WORK_NOT_FOUND, WORK_AMBIGUOUS.
 */
export function findWorkBranch(branches: readonly WorkBranch[], text: string): WorkBranch {
  const isMeant = ({ name, jobId }: WorkBranch) =>
    name === text ||
    jobId === text ||
    (text.length >= ENDING_CHARS_MIN && (jobId.endsWith(text) || name.endsWith(text)));
  const found = branches.filter(isMeant).toSorted((a, b) => b.attempt - a.attempt);
  const [first] = found;
  if (first === undefined) {
    const message = `No branch of an agent in this clone belongs to "${text}".`;
    throw new CliError(exitCodes.usage, 'WORK_NOT_FOUND', message, {
      fix: 'List them: signalbox work list. On another machine, an agent must push it first.',
    });
  }
  const ids = new Set(found.map(({ jobId }) => jobId));
  if (ids.size === 1) return first;
  const message = `Several jobs end in "${text}": ${[...ids].map(shortId).join(', ')}.`;
  throw new CliError(exitCodes.usage, 'WORK_AMBIGUOUS', message, {
    fix: `Give more of the ID, such as: signalbox work show ${first.jobId}`,
  });
}

/** The commit that a branch began with: as the job's evidence says, or else as git finds it. */
export async function findBase(
  clone: Clone,
  { commitSha }: WorkBranch,
  knownBase: string | null,
): Promise<string> {
  if (knownBase !== null && /^[0-9a-f]{40,64}$/.test(knownBase)) {
    const isBase = await askGit(clone, ['merge-base', '--is-ancestor', knownBase, commitSha]);
    if (isBase !== null) return knownBase;
  }
  return (await runGit(clone, ['merge-base', 'HEAD', commitSha])).trim();
}

export interface FileChange {
  path: string;
  /** Null: the file is binary. */
  added: number | null;
  deleted: number | null;
}

/** Counts the changed lines of each file between two commits. */
export async function countChanges(clone: Clone, from: string, to: string): Promise<FileChange[]> {
  const listed = await runGit(clone, ['diff', '--numstat', '--no-renames', '-z', from, to]);
  const countOf = (text = '') => (/^\d+$/.test(text) ? Number(text) : null);
  return listed.split('\0').flatMap((line) => {
    const [added, deleted, path] = line.split('\t');
    if (path === undefined) return [];
    return [{ path, added: countOf(added), deleted: countOf(deleted) }];
  });
}
