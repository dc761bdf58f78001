import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '../git/git.ts';
import type { Worktree } from '../git/git-worktree.ts';
import { pathName } from '../job/attempt.ts';
import { renameIfThere } from '../missing-file.ts';
import { removeToolTree } from '../process/tool-file.ts';
import type { StateDirectory } from '../state-directory.ts';
import { copyTree, lookAt, refuseTracked, SetupFileError } from './setup-files.ts';
import type { SetupCommand } from './setup-options.ts';

/**
 * Folders that a command of the set-up has filled: `setups/<repository>/<key>/<number>`, and copies
 * of all of them for later jobs, `setups/<repository>/<key>/spare-<random>/<number>`.
 */
export interface SetupCache {
  /** Where the folders are, or will be. */
  path: string;
  keep: readonly string[];
}

export interface CacheUse {
  worktree: Worktree;
  env: NodeJS.ProcessEnv;
  step: SetupCommand;
  /** The blob of the file that has the step; null: it is the person's. */
  file: string | null;
}

/** Of one repository; the one that was used last is deleted last. */
export const CACHES_MAX = 5;
const RETENTION_MS = 14 * 24 * 60 * 60_000;
const DRAFT = '.draft';
const SPARE = 'spare-';
const SPARE_DRAFT = 'draft-';
const isKept = (name: string) => name.startsWith(SPARE) || /^\d+$/.test(name);

/**
 * Finds the place for the folders of a command.
 *
 * @returns null: nothing of the command is kept.
 * @throws {SetupFileError} a file of the key is not in the commit.
 */
export async function findCache(
  state: StateDirectory,
  repoId: string,
  { worktree, env, step, file }: CacheUse,
): Promise<SetupCache | null> {
  const { command, key = [], keep = [] } = step;
  // As root, the agent would copy where the user of tools may exchange folders.
  if (keep.length === 0 || worktree.user !== null) return null;
  // Versions of programs change with the PATH, and what npm installs with NODE_ENV.
  const { PATH, NODE_ENV } = env;
  const { platform, arch } = process;
  const parts: unknown[] = [command, keep, platform, arch, PATH, NODE_ENV];
  if (file !== null) parts.push(file);
  const git = { gitDir: worktree.mirror.gitDir };
  for (const path of key) {
    const entry = await runGit(['ls-tree', '-z', '--full-tree', worktree.baseSha, '--', path], git);
    if (entry === '') throw new SetupFileError(`${path} of the key is not in the commit.`);
    parts.push(entry);
  }
  const name = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
  return { path: join(state.setups, pathName(repoId), name), keep };
}

/**
 * Puts the folders into a new worktree: those of a spare, or copies.
 *
 * @returns false: they are not there, or no longer.
 */
export async function takeFromCache(
  { path, keep }: SetupCache,
  worktree: Worktree,
): Promise<boolean> {
  if (!(await isThere(path))) return false;
  const targets = keep.map((each) => join(worktree.path, each));
  try {
    const spare = await takeSpare(path);
    for (const [number, target] of targets.entries()) {
      await mkdir(join(target, '..'), { recursive: true });
      if (spare === null) await copyTree(join(path, String(number)), target);
      else await rename(join(spare, String(number)), target);
    }
    if (spare !== null) await rm(spare, { recursive: true });
    await utimes(path, new Date(), new Date());
    return true;
  } catch (error) {
    // Another job has deleted it meanwhile.
    if (await isThere(path)) throw error;
    for (const target of targets) await removeToolTree(target);
    return false;
  }
}

/** Each of several jobs gets another one. Null: there is no spare. */
async function takeSpare(path: string): Promise<string | null> {
  const taken = join(path, `taken-${randomBytes(6).toString('hex')}`);
  for (const name of await listSpares(path)) {
    if (await renameIfThere(join(path, name), taken)) return taken;
  }
  return null;
}

async function listSpares(path: string): Promise<string[]> {
  return (await readdir(path)).filter((name) => name.startsWith(SPARE));
}

/** Copies the folders until so many later jobs find them without waiting for that. */
export async function addSpares({ path, keep }: SetupCache, count: number): Promise<void> {
  while ((await isThere(path)) && (await countSpares(path)) < count) {
    const random = randomBytes(6).toString('hex');
    const draft = join(path, `${SPARE_DRAFT}${random}`);
    try {
      await mkdir(draft);
      for (const number of keep.keys()) {
        await copyTree(join(path, String(number)), join(draft, String(number)));
      }
      await rename(draft, join(path, `${SPARE}${random}`));
    } catch (error) {
      await removeToolTree(draft);
      // It was deleted meanwhile, or the disk is full: the next job copies the folders itself.
      if (error instanceof SetupFileError || !(await isThere(path))) return;
      throw error;
    }
  }
}

/** With those that other jobs are copying. */
async function countSpares(path: string): Promise<number> {
  const names = await readdir(path);
  return names.filter((name) => name.startsWith(SPARE) || name.startsWith(SPARE_DRAFT)).length;
}

/** Nothing is there yet: neither files that git tracks, nor a link that leads elsewhere. */
export async function refuseKept({ keep }: SetupCache, worktree: Worktree): Promise<void> {
  for (const path of keep) await refuseTracked(worktree, path);
}

/** Keeps the folders. No tool has worked in the worktree, and no commit of a tool is in it. */
export async function fillCache({ path, keep }: SetupCache, worktree: Worktree): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}${DRAFT}`;
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    for (const [number, folder] of keep.entries()) {
      const found = await lookAt(worktree.path, folder);
      if (!found?.isDirectory()) throw new SetupFileError(`The command made no folder ${folder}.`);
      await copyTree(join(worktree.path, folder), join(draft, String(number)));
    }
    await rename(draft, path);
  } catch (error) {
    await removeToolTree(draft);
    // Another job has filled it at the same time.
    if (!(await isThere(path))) throw error;
  }
  await removeOldest(join(path, '..'));
}

/** Lists the places of all repositories. */
export async function listCaches(setups: string): Promise<string[]> {
  const places: string[] = [];
  for (const repository of await readdir(setups)) {
    const names = await readdir(join(setups, repository));
    const complete = names.filter((name) => !name.endsWith(DRAFT));
    places.push(...complete.map((name) => join(setups, repository, name)));
  }
  return places;
}

async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith(DRAFT));
  const places = await Promise.all(
    names.map(async (name) => ({ name, usedMs: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = places.toSorted((a, b) => b.usedMs - a.usedMs).slice(CACHES_MAX);
  for (const { name } of old) await removeCache(join(folder, name));
}

/** Deletes the folders of a place. A job that copies them notices. */
export async function removeCache(path: string): Promise<void> {
  const target = `${path}.${randomBytes(6).toString('hex')}${DRAFT}`;
  if (await renameIfThere(path, target)) await rm(target, { recursive: true, force: true });
}

/** Deletes what an agent that was killed has left incomplete, and what no job has used for long. */
export async function pruneCaches({ setups }: StateDirectory, nowMs: number): Promise<void> {
  for (const repository of await readdir(setups)) {
    for (const name of await readdir(join(setups, repository))) {
      const place = join(setups, repository, name);
      const isOld = nowMs - (await stat(place)).mtimeMs > RETENTION_MS;
      if (name.endsWith(DRAFT) || isOld) await removeToolTree(place);
      else await removeIncomplete(place);
    }
  }
}

async function removeIncomplete(place: string): Promise<void> {
  const { mtime } = await stat(place);
  for (const name of await readdir(place)) {
    if (!isKept(name)) await removeToolTree(join(place, name));
  }
  await utimes(place, mtime, mtime);
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
