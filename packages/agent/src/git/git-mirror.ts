import { existsSync } from 'node:fs';
import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathName } from '../job/attempt.ts';
import type { LandingOptions, ShareChanges } from '../landing/landing-options.ts';
import { admitUser, hideFromUser, showToUser, type ToolUser } from '../process/tool-user.ts';
import type { SetupOptions } from '../setup/setup-options.ts';
import { type StateDirectory, writeFileDurably } from '../state-directory.ts';
import { askGit, GitError, type GitOptions, isAncestor, readCommit, runGit } from './git.ts';

/** Maps a repository of the hub to the person's clone on this machine. */
export interface RepositoryMapping {
  repoId: string;
  /**
   * The person's clone. It is read and receives branches of finished jobs, but is never checked
   * out.
   */
  path: string;
  /**
   * The commit that jobs start from, as a name in the clone (`main`, `origin/main`, a tag). Absent:
   * the default branch, see `findDefaultBranch`.
   */
  baseRef?: string;
  /** Fetch from the clone's origin before each job. Absent: read the clone only. */
  fetchOrigin?: boolean;
  /** The checks of a finished job's commit. Absent: the commit stays in the clone, unverified. */
  landing?: LandingOptions;
  /** Prepares each new worktree before the tool begins. */
  setup?: SetupOptions;
  /** Absent: `stat`. */
  shareChanges?: ShareChanges;
}

/** The agent's own bare repository, in which it creates the worktrees of jobs. */
export interface Mirror {
  gitDir: string;
  clonePath: string;
}

/** Where a job begins, unless it builds on another one. */
export interface MirrorBase {
  sha: string;
  /** The name of the branch; null: a clone without commits, or one whose HEAD names no branch. */
  branch: string | null;
}

/** The branch that jobs are to begin with is not here. */
export class MissingBaseError extends GitError {
  override name = 'MissingBaseError';
}

/** The agent's commit identity when the person has configured none. */
const AGENT_IDENTITY = { name: 'Signalbox agent', email: 'agent@signalbox.invalid' };

/**
 * Fetches the clone's branches as `clone/*` and its remote-tracking branches as `origin/*`. The
 * mirror's own branches belong to jobs, so no fetch can change them.
 */
const cloneRefspecs = [
  '+HEAD:refs/signalbox/clone-head',
  '+refs/heads/*:refs/remotes/clone/*',
  '+refs/remotes/origin/*:refs/remotes/origin/*',
  '+refs/tags/*:refs/tags/*',
];

/** Queues changes to one mirror. Git's own lock would fail the second change instead of waiting. */
const turns = new Map<string, Promise<unknown>>();

export async function withMirror<T>(mirror: Mirror, action: () => Promise<T>): Promise<T> {
  const before = turns.get(mirror.gitDir) ?? Promise.resolve();
  const mine = before.then(action, action);
  turns.set(mirror.gitDir, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(mirror.gitDir) === mine) turns.delete(mirror.gitDir);
  }
}

export function mirrorOf(state: StateDirectory, repository: RepositoryMapping): Mirror {
  return {
    gitDir: join(state.mirrors, `${pathName(repository.repoId)}.git`),
    clonePath: repository.path,
  };
}

/** The last refresh of a mirror: when it began, and what it found. */
interface Refresh {
  beganMs: number;
  /** The first commit of a clone that has none; null: it has some. */
  emptySha: string | null;
}

const refreshes = new Map<string, Refresh>();

/**
 * Updates the mirror and returns the commit that a job starts from. Jobs that wait for their turn
 * at the same time share one refresh: it need only begin after the job asks. Throws `GitError`
 * with a message for the person when the clone is not usable.
 */
export async function refreshMirror(
  mirror: Mirror,
  repository: RepositoryMapping,
  toolUser: ToolUser | null,
  signal?: AbortSignal,
): Promise<MirrorBase> {
  const askedMs = performance.now();
  const key = `${mirror.gitDir} ${repository.fetchOrigin === true}`;
  const { emptySha } = await withMirror(mirror, async () => {
    const last = refreshes.get(key);
    if (last !== undefined && last.beganMs > askedMs) return last;
    const beganMs = performance.now();
    const current = { beganMs, emptySha: await refresh(mirror, repository, signal) };
    await showObjects(mirror, toolUser);
    refreshes.set(key, current);
    return current;
  });
  if (emptySha !== null) return { sha: emptySha, branch: null };
  return await resolveBase(mirror, repository, signal);
}

/** The tool borrows the objects, and may read nothing else of the mirror. */
async function showObjects(mirror: Mirror, toolUser: ToolUser | null): Promise<void> {
  for (const part of await readdir(mirror.gitDir)) {
    const show = part === 'objects' ? showToUser : hideFromUser;
    await show(join(mirror.gitDir, part), toolUser);
  }
  await admitUser(mirror.gitDir, toolUser);
}

/** @returns the first commit of a clone that has none; null: it has some. */
async function refresh(
  mirror: Mirror,
  repository: RepositoryMapping,
  signal?: AbortSignal,
): Promise<string | null> {
  const root = await findCloneRoot(mirror.clonePath);
  await createMirror(mirror, signal);
  const fetch = ['fetch', '--quiet', '--prune', '--no-tags', '--update-shallow'];
  const args = [...fetch, '--no-write-fetch-head', root, ...cloneRefspecs];
  try {
    await runGit(args, { gitDir: mirror.gitDir, signal });
  } catch (error) {
    const clone = { cwd: mirror.clonePath, signal };
    if ((await readCommit(clone, 'HEAD')) !== null) throw error;
    if (!(await isEmpty(repository, clone))) {
      const why = 'its current branch has no commit; check out a branch that has one';
      throw new GitError(`${mirror.clonePath}: ${why}.`, null, undefined);
    }
    await copySettings(mirror, signal);
    return await beginHistory(mirror, signal);
  }
  await copySettings(mirror, signal);
  if (repository.fetchOrigin) await fetchOrigin(mirror, signal);
  return null;
}

/** Whether the clone has no commits but those of jobs, and none is asked for. */
async function isEmpty(repository: RepositoryMapping, clone: GitOptions): Promise<boolean> {
  if (repository.baseRef !== undefined || repository.fetchOrigin) return false;
  const refs = (await runGit(['for-each-ref', '--format=%(refname)'], clone)).split('\n');
  return refs.every((ref) => ref === '' || ref.startsWith('refs/heads/signalbox/'));
}

/**
 * Makes the first commit of an empty repository, without a file. It is the same commit each time,
 * so that branches of several jobs have a common history.
 */
async function beginHistory({ gitDir }: Mirror, signal?: AbortSignal): Promise<string> {
  const git = { gitDir, signal, input: '', exactEnv: commitEnvironment('2026-01-01T00:00:00Z') };
  const tree = (await runGit(['mktree'], git)).trim();
  return (await runGit(['commit-tree', tree, '-m', 'Begin'], git)).trim();
}

/** Commits that are made with it from the same parts are the same commit, on every machine. */
export function commitEnvironment(date: string): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, HOME } = process.env;
  const { name, email } = AGENT_IDENTITY;
  return {
    PATH,
    TMPDIR,
    HOME,
    LC_ALL: 'C',
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
}

/** Finds the top directory of the clone that contains a path; for a bare one, its git directory. */
export async function findCloneRoot(path: string, git: GitOptions = {}): Promise<string> {
  const question = ['--absolute-git-dir', '--is-bare-repository', '--show-toplevel'];
  // A bare repository has no answer to the last question. Another folder has no answer at all.
  const options = { ...git, exitCodes: [128] };
  const answers = await runGit(['-C', path, 'rev-parse', ...question], options);
  const [gitDir = '', isBare, topLevel = ''] = answers.split('\n');
  const root = isBare === 'true' ? gitDir : topLevel;
  if (root === '') {
    const why = existsSync(path) ? 'is not a git repository' : 'does not exist';
    throw new GitError(`${path} ${why}.`, null, undefined);
  }
  return root;
}

export type Settings = [name: string, value: string][];

/** Lists the settings that git has at a place, the last value of a name last. */
async function readSettings(git: GitOptions, from: readonly string[] = []): Promise<Settings> {
  const text = await runGit(['config', ...from, '--null', '--list'], git);
  return text.split('\0').flatMap((entry) => (entry === '' ? [] : [settingOf(entry)]));
}

export function settingOf(entry: string): Settings[number] {
  const lineEnd = entry.indexOf('\n');
  // A name without a value means true.
  return lineEnd < 0 ? [entry, 'true'] : [entry.slice(0, lineEnd), entry.slice(lineEnd + 1)];
}

async function createMirror(mirror: Mirror, signal?: AbortSignal): Promise<void> {
  try {
    await access(join(mirror.gitDir, 'signalbox-ready'));
    return;
  } catch {
    // The mirror is absent, or its creation was interrupted: create it from scratch.
    await rm(mirror.gitDir, { recursive: true, force: true });
  }
  const format = await askGit(['rev-parse', '--show-object-format'], {
    cwd: mirror.clonePath,
    signal,
  });
  await runGit(
    ['init', '--quiet', '--bare', '--template=', `--object-format=${format ?? 'sha1'}`].concat(
      mirror.gitDir,
    ),
    { signal },
  );
  await writeFileDurably(join(mirror.gitDir, 'signalbox-ready'), '');
}

/** Copies the clone's author and origin, so that worktrees use the same. */
async function copySettings(mirror: Mirror, signal?: AbortSignal): Promise<void> {
  const clone = { cwd: mirror.clonePath, signal };
  const git = { gitDir: mirror.gitDir, signal };
  const theirs = new Map(await readSettings(clone));
  const wanted: Settings = [
    ['user.name', theirs.get('user.name') || AGENT_IDENTITY.name],
    ['user.email', theirs.get('user.email') || AGENT_IDENTITY.email],
  ];
  const hasOrigin = theirs.has('remote.origin.url');
  const originUrl = hasOrigin ? await askGit(['remote', 'get-url', 'origin'], clone) : null;
  if (originUrl !== null) {
    wanted.push(['remote.origin.url', originUrl]);
    wanted.push(['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*']);
  }
  const mine = new Map(await readSettings(git, ['--local']));
  for (const [name, value] of wanted) {
    if (mine.get(name) !== value) await runGit(['config', name, value], git);
  }
}

/** Limit for both requests together. A slow server is tolerated, a hanging one is not. */
const FETCH_TIMEOUT_MS = 5 * 60_000;

async function fetchOrigin(mirror: Mirror, signal?: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const git = {
    gitDir: mirror.gitDir,
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  };
  await runGit(['fetch', '--quiet', '--prune', '--no-write-fetch-head', 'origin'], git);
  await runGit(['remote', 'set-head', 'origin', '--auto'], git);
}

/** Finds the commit that a repository's jobs start from in a mirror that was refreshed. */
export async function resolveBase(
  mirror: Mirror,
  repository: RepositoryMapping,
  signal?: AbortSignal,
): Promise<MirrorBase> {
  const git = { gitDir: mirror.gitDir, signal };
  const { baseRef } = repository;
  if (baseRef !== undefined) {
    const sha = await findNamed(git, baseRef);
    if (sha !== null) return { sha, branch: baseRef };
    throw new MissingBaseError(
      `${mirror.clonePath} has no commit named ${baseRef}.`,
      null,
      undefined,
    );
  }
  if (repository.fetchOrigin) {
    const head = (await runGit(['symbolic-ref', 'refs/remotes/origin/HEAD'], git)).trim();
    const sha = (await runGit(['rev-parse', '--verify', `${head}^{commit}`], git)).trim();
    return { sha, branch: head.replace('refs/remotes/origin/', '') };
  }
  const branch = (await findDefaultBranch(mirror.clonePath))?.name ?? null;
  const sha = branch && (await findBranch(git, branch));
  if (sha !== null) return { sha, branch };
  const head = 'refs/signalbox/clone-head^{commit}';
  return { sha: (await runGit(['rev-parse', '--verify', head], git)).trim(), branch: null };
}

/** A branch with its remote (`origin/main`), a branch, a tag, or another name of a commit. */
async function findNamed(git: GitOptions, name: string): Promise<string | null> {
  return (
    (await readCommit(git, `refs/remotes/${name}`)) ??
    (await findBranch(git, name)) ??
    (await readCommit(git, `refs/tags/${name}`)) ??
    (await readCommit(git, name))
  );
}

async function findBranch(git: GitOptions, name: string): Promise<string | null> {
  const here = await readCommit(git, `refs/remotes/clone/${name}`);
  return await newerOf(git, here, await readCommit(git, `refs/remotes/origin/${name}`));
}

/** A branch of the clone; that of the origin if it continues the clone's, or is the only one. */
export async function newerOf(
  git: GitOptions,
  here: string | null,
  there: string | null,
): Promise<string | null> {
  if (here === null || there === null) return here ?? there;
  return (await isAncestor(git, here, there)) ? there : here;
}

/** Of agents. */
const AGENT_BRANCHES = 'signalbox/';

/**
 * The branch that jobs begin with and works land in where no other is configured: the default
 * branch of the origin, or else the one that is checked out. A branch of an agent, which a person
 * looks at, gives way to `main` or `master`. Null: HEAD names no other branch.
 */
export async function findDefaultBranch(
  clonePath: string,
): Promise<{ name: string; why: string } | null> {
  const git = { cwd: clonePath, isAfterTool: true } as const;
  const readLink = async (ref: string, folder: string) =>
    (await askGit(['symbolic-ref', '--quiet', ref], git))?.replace(folder, '') ?? null;
  const isThere = async (...refs: string[]) =>
    (await runGit(['for-each-ref', '--format=%(refname)', ...refs], git)) !== '';
  const ofOrigin = await readLink('refs/remotes/origin/HEAD', 'refs/remotes/origin/');
  if (ofOrigin !== null) {
    const places = [`refs/heads/${ofOrigin}`, `refs/remotes/origin/${ofOrigin}`];
    if (await isThere(...places))
      return { name: ofOrigin, why: 'the default branch of the origin' };
  }
  const checkedOut = await readLink('HEAD', 'refs/heads/');
  if (checkedOut === null) return null;
  if (!checkedOut.startsWith(AGENT_BRANCHES)) {
    return { name: checkedOut, why: 'the branch that the clone has checked out' };
  }
  for (const name of ['main', 'master']) {
    if (await isThere(`refs/heads/${name}`)) return { name, why: 'the main branch of the clone' };
  }
  return null;
}
