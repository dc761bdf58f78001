import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathName } from '../job/attempt.ts';
import { renameIfThere, unlessMissing } from '../missing-file.ts';
import { isReached } from '../process/process-reach.ts';
import { runProgram } from '../process/run-program.ts';
import { moveToolEntries, removeToolTree, ToolFileError } from '../process/tool-file.ts';
import type { StateDirectory } from '../state-directory.ts';
import { askGit, GitError, type GitOptions, runGit } from './git.ts';

/**
 * The files of worktrees that no job uses, for later jobs of the same repository:
 * `warm/<repository>/<name>/`, each with `worktree/` and the `index` of its files. Only files that
 * git tracks are in there, and none of the tool's `.git`.
 *
 * The files are compared with an index of the agent's, made before the tool began. A path
 * that it does not have is deleted. A file that was written to has another time of change (ctime),
 * which only root can set: git writes it again for the next job.
 */
export interface WarmWorktrees {
  /** The folder of the repository. */
  path: string;
  /** How many are kept; 0: none. */
  max: number;
}

export function warmWorktreesOf(state: StateDirectory, repoId: string, max: number): WarmWorktrees {
  return { path: join(state.warm, pathName(repoId)), max };
}

/** The ends of names that are not for a job: of one that a job has left, or that is deleted. */
const ASIDE = '.aside';
const DELETED = '.deleted';
const isForJobs = (name: string) => !name.endsWith(ASIDE) && !name.endsWith(DELETED);
/** A clock of the system that counts in ticks, and is set now and then. */
const CLOCK_MS = 2_000;
const RETENTION_MS = 14 * 24 * 60 * 60_000;
const LIST_MS_MAX = 10 * 60_000;
const LIST_BYTES_MAX = 256 * 1024 * 1024;

/** The files of a worktree, and a git directory of the agent with the index of them. */
interface Files {
  path: string;
  gitDir: string;
}

/** Files as git has written them depend on settings, so worktrees are kept apart by these. */
async function prefixOf({ gitDir }: Files): Promise<string> {
  const settings = await readFile(join(gitDir, 'config'));
  return createHash('sha256').update(settings).digest('hex').slice(0, 16);
}

function indexOf({ gitDir }: Files): string {
  return join(gitDir, 'index');
}

/**
 * Moves a worktree whose job has ended out of the directory of its attempt, which is deleted as
 * soon as the hub has the result.
 *
 * @returns null: it cannot be moved, for instance because the tool has removed it.
 */
export async function setAside(warm: WarmWorktrees, from: Files): Promise<Files | null> {
  const place = join(warm.path, `${randomName()}${ASIDE}`);
  const aside = { path: join(place, 'worktree'), gitDir: join(place, 'evidence.git') };
  await mkdir(place, { recursive: true, mode: 0o700 });
  try {
    await rename(from.path, aside.path);
    await rename(from.gitDir, aside.gitDir);
    return aside;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await removeToolTree(place);
    return null;
  }
}

/** Keeps the files of a worktree that was set aside, if they can be proved clean. */
export async function keepWarm(warm: WarmWorktrees, aside: Files): Promise<void> {
  const name = `${await prefixOf(aside)}-${randomName()}`;
  const place = join(warm.path, name);
  let isKept = false;
  try {
    if ((await listWarm(warm.path)).length < warm.max) {
      isKept = await moveClean(aside, place, name);
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  if (!isKept) await removeToolTree(place);
  await removeToolTree(dirname(aside.path));
}

async function moveClean(aside: Files, place: string, name: string): Promise<boolean> {
  const sinceMs = (await stat(join(aside.gitDir, 'config'))).mtimeMs - CLOCK_MS;
  const tracked = await readIndex(aside);
  const files = { ...aside, path: join(place, 'worktree') };
  await mkdir(files.path, { recursive: true, mode: 0o700 });
  const tops = [...tracked.keys()].map((file) => file.split('/', 1)[0] ?? '');
  const names = [...new Set(tops)].map((top) => Buffer.from(top, 'latin1').toString('utf8'));
  // Into a new directory: a process that is confined to the old one stays behind. Moving a file
  // changes its ctime, so the few at the top are written again.
  await moveToolEntries(aside.path, files.path, names);
  if (await isReached(name, sinceMs)) return false;
  await removeEntries(files.path, await listOthers(files, tracked));
  // Last: without an index it is incomplete.
  await rename(indexOf(aside), join(place, 'index'));
  return true;
}

function randomName(): string {
  return randomBytes(12).toString('hex');
}

/**
 * Puts the files of a kept worktree into the place of a new one, and their index into its git
 * directory, for `read-tree --reset -u` to bring both to a commit.
 *
 * @returns false: no kept worktree fits.
 */
export async function takeWarm(warm: WarmWorktrees, files: Files): Promise<boolean> {
  if (warm.max === 0) return false;
  const prefix = await prefixOf(files);
  for (const name of await listWarm(warm.path)) {
    if (!name.startsWith(`${prefix}-`)) continue;
    const place = join(warm.path, name);
    try {
      // Another job, or `work prune`, may take it at the same time. One of them gets the index.
      await rename(join(place, 'index'), indexOf(files));
      await rename(join(place, 'worktree'), files.path);
      await rm(place, { recursive: true, force: true });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await rm(indexOf(files), { force: true });
    }
  }
  return false;
}

/** Whether the next commit has other attributes: git would not write unchanged files again. */
export async function hasOtherAttributes(files: Files, baseSha: string): Promise<boolean> {
  const attributes = ':(glob)**/.gitattributes';
  const question = ['diff-index', '--cached', '--quiet', baseSha, '--', attributes];
  return (await askGit(question, gitOf(files))) === null;
}

/** Their names; one without an index is incomplete. */
export async function listWarm(path: string): Promise<string[]> {
  return ((await unlessMissing(readdir(path))) ?? []).filter(isForJobs);
}

/** Deletes one of them, unless a job has just taken it. */
export async function removeWarm(place: string): Promise<void> {
  const target = `${place}${DELETED}`;
  if (await renameIfThere(place, target)) await removeToolTree(target);
}

/** Nothing of the tool's `.git` is read. */
function gitOf({ path, gitDir }: Files): GitOptions {
  return { gitDir, cwd: path, isAfterTool: true };
}

/** Deletes those that are incomplete, and those of repositories that have had no job for long. */
export async function pruneWarm({ warm }: StateDirectory, nowMs: number): Promise<void> {
  for (const repository of await readdir(warm)) {
    for (const name of await readdir(join(warm, repository))) {
      const place = join(warm, repository, name);
      const isComplete = existsSync(join(place, 'index')) && isForJobs(name);
      const isOld = nowMs - (await stat(place)).mtimeMs > RETENTION_MS;
      if (!isComplete || isOld) await removeToolTree(place);
    }
  }
}

/** Something about the files does not allow the agent to keep them. */
function isRefusal(error: unknown): boolean {
  if (error instanceof GitError || error instanceof ToolFileError) return true;
  return error instanceof Error && 'syscall' in error;
}

type Kind = 'f' | 'l' | 'd';
const kinds: Readonly<Record<string, Kind>> = {
  '100644': 'f',
  '100755': 'f',
  '120000': 'l',
  // A submodule, of which git makes an empty folder.
  '160000': 'd',
};

/** The kind of each path of the index. Paths are bytes, as in all functions below. */
async function readIndex(files: Files): Promise<Map<string, Kind>> {
  const listed = await runGit(['ls-files', '-z', '--stage'], {
    ...gitOf(files),
    encoding: 'latin1',
  });
  const entries = listed.split('\0').filter((entry) => entry !== '');
  return new Map(
    entries.map((entry) => {
      const kind = kinds[entry.slice(0, entry.indexOf(' '))] ?? 'f';
      return [entry.slice(entry.indexOf('\t') + 1), kind];
    }),
  );
}

/** Lists what an index does not have, or has as something else, without following a link. */
async function listOthers({ path }: Files, tracked: ReadonlyMap<string, Kind>): Promise<string[]> {
  const folders = foldersOf(tracked);
  const listed = await run('find', ['.', '-mindepth', '1', '-printf', '%y %n %m %P\\0'], path);
  const others: string[] = [];
  for (const line of listed.split('\0').slice(0, -1)) {
    const [kind = '', names = '', mode = ''] = line.split(' ', 3);
    const name = line.slice(kind.length + names.length + mode.length + 3);
    if (name.startsWith(`${others.at(-1)}/`)) continue;
    const isKnown = tracked.get(name) === kind || (kind === 'd' && folders.has(name));
    // A second name of a file may be anywhere, and a folder that anybody may write to stays one.
    const isShared = kind === 'd' ? (Number.parseInt(mode, 8) & 0o002) !== 0 : names !== '1';
    if (isShared || !isKnown) others.push(name);
  }
  return others;
}

function foldersOf(tracked: ReadonlyMap<string, Kind>): Set<string> {
  const folders = new Set<string>();
  for (const file of tracked.keys()) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      const folder = file.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

async function removeEntries(path: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const input = names.map((name) => `./${name}\0`).join('');
  await run('xargs', ['-0', 'rm', '-rf', '--'], path, input);
}

async function run(
  file: string,
  args: readonly string[],
  cwd: string,
  input?: string,
): Promise<string> {
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  const limits = { limitMs: LIST_MS_MAX, outputBytesMax: LIST_BYTES_MAX };
  try {
    const options = { cwd, env, encoding: 'latin1' as const, input, ...limits };
    return (await runProgram(file, args, options)).stdout;
  } catch (error) {
    throw new ToolFileError(`${basename(file)}: ${(error as Error).message}`, { cause: error });
  }
}
