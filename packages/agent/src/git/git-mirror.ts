import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathName } from '../job/attempt.ts';
import { type StateDirectory, writeFileDurably } from '../state-directory.ts';
import { askGit, GitError, runGit } from './git.ts';

/** A repository of the hub and the person's clone of it on this machine. */
export interface RepositoryMapping {
  repoId: string;
  /** The person's clone; read, and given the branches of finished jobs, but never checked out. */
  path: string;
  /**
   * The commit that jobs start from, as the clone names it (`main`, `origin/main`, a tag). Absent:
   * what the clone has checked out, or the origin's default branch with `fetchOrigin`.
   */
  baseRef?: string;
  /** Ask the clone's origin for news before each job. Absent: the clone alone is read. */
  fetchOrigin?: boolean;
}

/** A bare repository of the agent's own, in which the worktrees of jobs are made. */
export interface Mirror {
  gitDir: string;
  clonePath: string;
}

/** The identity under which the agent commits where the person has none. */
export const AGENT_IDENTITY = { name: 'Signalbox agent', email: 'agent@signalbox.invalid' };

/**
 * The clone's branches arrive as `clone/*`, what it knows of its origin as `origin/*`: the mirror's
 * own branches are those of jobs, and no fetch can touch them.
 */
const cloneRefspecs = [
  '+HEAD:refs/signalbox/clone-head',
  '+refs/heads/*:refs/remotes/clone/*',
  '+refs/remotes/origin/*:refs/remotes/origin/*',
  '+refs/tags/*:refs/tags/*',
];

/** One change of a mirror at a time; git's own locks would fail the second instead of queueing. */
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

/**
 * Brings the mirror up to date and returns the commit that a job starts from.
 * Throws `GitError` with a sentence for the person when the clone cannot serve.
 */
export async function refreshMirror(
  mirror: Mirror,
  repository: RepositoryMapping,
  signal?: AbortSignal,
): Promise<string> {
  return await withMirror(mirror, () => refresh(mirror, repository, signal));
}

async function refresh(
  mirror: Mirror,
  repository: RepositoryMapping,
  signal?: AbortSignal,
): Promise<string> {
  const clone = { cwd: mirror.clonePath, signal };
  const root = await findCloneRoot(mirror.clonePath);
  if ((await askGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], clone)) === null) {
    throw new GitError(`${mirror.clonePath} has no commit to start from yet.`, null, undefined);
  }
  await createMirror(mirror, signal);
  const git = { gitDir: mirror.gitDir, signal };
  await runGit(
    ['fetch', '--quiet', '--prune', '--no-tags', '--update-shallow', '--no-write-fetch-head']
      .concat(root)
      .concat(cloneRefspecs),
    git,
  );
  await copySettings(mirror, signal);
  if (repository.fetchOrigin) await fetchOrigin(mirror, signal);
  return await resolveBase(mirror, repository, signal);
}

/** The top of the clone that holds a path; the git directory itself of a bare one. */
export async function findCloneRoot(path: string): Promise<string> {
  const bare = await askInside(path, ['rev-parse', '--is-bare-repository']);
  const question = bare === 'true' ? '--absolute-git-dir' : '--show-toplevel';
  const root = bare === null ? null : await askInside(path, ['rev-parse', question]);
  if (root === null) throw new GitError(`${path} is not a git repository.`, null, undefined);
  return root;
}

async function askInside(path: string, args: readonly string[]): Promise<string | null> {
  return await askGit(['-C', path, ...args]);
}

async function createMirror(mirror: Mirror, signal?: AbortSignal): Promise<void> {
  try {
    await access(join(mirror.gitDir, 'signalbox-ready'));
    return;
  } catch {
    // Not there, or a first attempt was interrupted half way: made afresh.
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

/** The author and the origin that the clone has are those of the worktrees too. */
async function copySettings(mirror: Mirror, signal?: AbortSignal): Promise<void> {
  const clone = { cwd: mirror.clonePath, signal };
  const git = { gitDir: mirror.gitDir, signal };
  const name = (await askGit(['config', 'user.name'], clone)) || AGENT_IDENTITY.name;
  const email = (await askGit(['config', 'user.email'], clone)) || AGENT_IDENTITY.email;
  await runGit(['config', 'user.name', name], git);
  await runGit(['config', 'user.email', email], git);
  const originUrl = await askGit(['remote', 'get-url', 'origin'], clone);
  if (originUrl === null) return;
  await runGit(['config', 'remote.origin.url', originUrl], git);
  await runGit(['config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'], git);
}

/** Two questions to a server that may be slow, not one that may hang. */
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

async function resolveBase(
  mirror: Mirror,
  repository: RepositoryMapping,
  signal?: AbortSignal,
): Promise<string> {
  const git = { gitDir: mirror.gitDir, signal };
  const { baseRef } = repository;
  if (baseRef === undefined) {
    const ref = repository.fetchOrigin ? 'refs/remotes/origin/HEAD' : 'refs/signalbox/clone-head';
    return (await runGit(['rev-parse', '--verify', `${ref}^{commit}`], git)).trim();
  }
  const places = ['refs/remotes/', 'refs/remotes/clone/', 'refs/tags/', ''];
  for (const place of places) {
    const ref = `${place}${baseRef}^{commit}`;
    const sha = await askGit(['rev-parse', '--verify', '--quiet', '--end-of-options', ref], git);
    if (sha !== null) return sha;
  }
  throw new GitError(`${mirror.clonePath} has no commit named ${baseRef}.`, null, undefined);
}
