import { lstat, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProgramError, runProgram } from '../process/run-program.ts';
import {
  copyToolFile,
  readToolFile,
  removeToolTree,
  replaceToolFile,
  ToolFileError,
} from '../process/tool-file.ts';
import { giveToUser, identityOf } from '../process/tool-user.ts';
import { GitError, type GitOptions } from './git.ts';
import { alternatesOf, objectsOf, type Worktree } from './git-worktree.ts';

/** The repository that a tool has left, as the agent reads it. */
export interface ToolRepository {
  readonly worktree: Worktree;
  /** The commit that the tool has checked out. */
  readonly headSha: string;
  /**
   * Git with the files of the worktree, the objects of the tool's repository, and a copy of its
   * index. It writes into a directory of the agent.
   */
  readonly git: GitOptions;
  /** False: the tool has removed the link to the objects of the mirror. */
  readonly borrows: boolean;
}

/** An index of four million files. */
const INDEX_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Opens what a tool has left in its worktree. The only place where anything of the tool's `.git`
 * reaches git, and nothing does that was not looked at:
 *
 * - the folders are folders, and nothing below `objects` is a link, a pipe or a device;
 * - the objects borrow from the mirror, and from nowhere else;
 * - `HEAD`, the refs and the index are regular files. The index is copied.
 *
 * `config`, hooks, attributes, worktrees and all else are not read at all.
 *
 * @throws {GitError} the repository is not what the tool was given.
 */
export async function openToolRepository(worktree: Worktree): Promise<ToolRepository> {
  for (const folder of ['', '.git', '.git/objects', '.git/refs']) {
    const found = await statOf(join(worktree.path, folder));
    if (!found?.isDirectory()) throw replaced(worktree, `${folder || 'the worktree'} is no folder`);
  }
  await refuseSpecialFiles(worktree);
  const lender = await readPart(worktree, 'objects/info/alternates', REF_BYTES_MAX);
  if (lender !== null && lender !== alternatesOf(objectsOf(worktree.mirror))) {
    throw replaced(worktree, '.git/objects/info/alternates was changed');
  }
  const headSha = await readHead(worktree);
  const objects = [join(worktree.path, '.git', 'objects'), objectsOf(worktree.mirror)];
  const git = await openReading(worktree, 'reading', objects);
  return { worktree, headSha, git, borrows: lender !== null };
}

/**
 * Opens the files of a worktree, with the objects of the mirror and an empty index: in the tool's
 * index, files can be marked as unchanged.
 */
export async function openWorktreeFiles(worktree: Worktree): Promise<GitOptions> {
  await refuseSpecialFiles(worktree);
  return await openReading(worktree, 'comparing', [objectsOf(worktree.mirror)]);
}

/**
 * Makes the options of git for one reading: as the tool's user, with a git directory that the tool
 * cannot write, and with an index and objects of its own. No configuration counts but the one in
 * there, and no other file of a repository that git trusts (attributes, commit graphs).
 */
async function openReading(
  worktree: Worktree,
  name: 'reading' | 'comparing',
  objects: readonly string[],
): Promise<GitOptions> {
  const { path, evidenceDir, user } = worktree;
  const reading = join(evidenceDir, name);
  await removeToolTree(reading);
  await mkdir(join(reading, 'objects', 'info'), { recursive: true, mode: 0o700 });
  await writeFile(join(reading, 'objects', 'info', 'alternates'), alternatesOf(...objects));
  if (name === 'reading') await copyIndex(worktree, join(reading, 'index'));
  await giveToUser(reading, user);
  const { PATH, TMPDIR, HOME } = process.env;
  const caches = ['core.commitGraph', 'core.multiPackIndex', 'core.untrackedCache'];
  const settings = [...caches, 'pack.useBitmaps'].map((setting, at): [string, string][] => [
    [`GIT_CONFIG_KEY_${at}`, setting],
    [`GIT_CONFIG_VALUE_${at}`, 'false'],
  ]);
  return {
    cwd: path,
    user,
    exactEnv: {
      PATH,
      TMPDIR,
      LC_ALL: 'C',
      ...(user === null ? { HOME } : {}),
      GIT_DIR: evidenceDir,
      GIT_WORK_TREE: path,
      GIT_INDEX_FILE: join(reading, 'index'),
      GIT_OBJECT_DIRECTORY: join(reading, 'objects'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(settings.flat()),
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_NO_LAZY_FETCH: '1',
      GIT_TERMINAL_PROMPT: '0',
    },
  };
}

async function copyIndex(worktree: Worktree, target: string): Promise<void> {
  const handle = await open(target, 'wx', 0o600);
  try {
    await copyToolFile(join(worktree.path, '.git', 'index'), handle, {
      below: worktree.path,
      bytesMax: INDEX_BYTES_MAX,
      uid: worktree.user?.uid,
    });
  } catch (error) {
    throw explain(error, 'index');
  } finally {
    await handle.close();
  }
}

/**
 * Files that git would open in a worktree and must not: it waits for the other end of a pipe, and
 * follows links among objects. `find` follows none.
 */
const specialFiles = [
  ...['(', '(', '-path', './.git/objects/*', '!', '-type', 'f', '!', '-type', 'd', ')', '-o'],
  ...['(', '(', '-type', 'p', '-o', '-type', 'c', '-o', '-type', 'b', ')'],
  ...['(', '-name', '.gitignore', '-o', '-name', '.gitattributes', '-o', '-path', '*/.git/*', ')'],
  ...[')', ')'],
];
const FIND_MS_MAX = 10 * 60_000;
const NAME_CHARS_MAX = 300;

/** @throws {GitError} */
async function refuseSpecialFiles({ path, user }: Worktree): Promise<void> {
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  const options = { cwd: path, env, limitMs: FIND_MS_MAX, ...identityOf(user) };
  const find = runProgram('find', ['.', ...specialFiles, '-print'], options);
  const { stdout: found } = await find.catch((error: ProgramError) => {
    // It ends with 1 for a folder that it may not read. Git may not read that either.
    if (error.exitCode === 1 || error.stdout !== '') return error;
    throw new GitError(`find: ${error.message}`, null, error);
  });
  const [first = ''] = found.split('\n');
  if (first === '') return;
  const name = first.slice('./'.length, NAME_CHARS_MAX);
  throw new GitError(`${name} of the worktree is not a regular file.`, null, undefined);
}

const REF_BYTES_MAX = 4_096;
const PACKED_REFS_BYTES_MAX = 64 * 1024 * 1024;
/** A symbolic ref that names another one is rare; more are a mistake or a loop. */
const STEPS_MAX = 5;
const refName = /^refs\/[^\s~^:?*[\\]+$/;
const objectName = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Reads which commit the tool's repository has checked out (gitrepository-layout(5)). Git itself
 * would read the tool's configuration on the way.
 */
async function readHead(worktree: Worktree): Promise<string> {
  let name = 'HEAD';
  for (let step = 0; step < STEPS_MAX; step++) {
    const text = await readRef(worktree, name);
    const [, target] = /^ref: *(.*)$/s.exec(text) ?? [];
    if (target === undefined) {
      if (objectName.test(text)) return text;
      break;
    }
    if (!refName.test(target) || target.split('/').includes('..')) break;
    name = target;
  }
  throw noCommit(worktree);
}

async function readRef(worktree: Worktree, name: string): Promise<string> {
  const loose = await readPart(worktree, name, REF_BYTES_MAX);
  if (loose !== null) return loose.trim();
  const packed = (await readPart(worktree, 'packed-refs', PACKED_REFS_BYTES_MAX)) ?? '';
  const found = packed.split('\n').find((line) => line.endsWith(` ${name}`));
  if (found === undefined) throw noCommit(worktree);
  return found.slice(0, -name.length - 1);
}

async function readPart(
  { path, user }: Worktree,
  name: string,
  bytesMax: number,
): Promise<string | null> {
  try {
    const limits = { below: path, bytesMax, uid: user?.uid };
    const bytes = await readToolFile(join(path, '.git', name), limits);
    return bytes?.toString('utf8') ?? null;
  } catch (error) {
    throw explain(error, name);
  }
}

/** Files of an unfinished operation of git; its commit is not the agent's to end. */
const unfinished = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
];

/**
 * Checks out the agent's commit on the job's branch, so that checks and people find a clean state:
 * the branch, the index and `HEAD` are replaced by new files. Only the first can meet a folder that
 * was not looked at before.
 *
 * @returns false if the tool has left something else: its repository then stays as it is.
 */
export async function moveHead(
  { worktree, git, borrows }: ToolRepository,
  commitSha: string,
): Promise<boolean> {
  const { path, branch, user } = worktree;
  const gitDir = join(path, '.git');
  for (const name of unfinished) {
    if ((await statOf(join(gitDir, name))) !== null) return false;
  }
  // Its objects are in the mirror.
  if (!borrows) return false;
  const place = { below: path, user };
  const index = git.exactEnv?.GIT_INDEX_FILE ?? '';
  const limits = { bytesMax: INDEX_BYTES_MAX, uid: user?.uid };
  const ref = `refs/heads/${branch}`;
  try {
    await replaceToolFile(join(gitDir, ref), place, (file) => file.writeFile(`${commitSha}\n`));
    await replaceToolFile(join(gitDir, 'index'), place, (file) =>
      copyToolFile(index, file, limits),
    );
    await replaceToolFile(join(gitDir, 'HEAD'), place, (file) => file.writeFile(`ref: ${ref}\n`));
  } catch (error) {
    if (error instanceof ToolFileError) return false;
    throw error;
  }
  return true;
}

async function statOf(file: string) {
  try {
    return await lstat(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

function replaced({ path }: Worktree, what: string): GitError {
  const why = `The command replaced parts of the repository in ${path}: ${what}.`;
  return new GitError(why, null, undefined);
}

function noCommit({ path }: Worktree): GitError {
  const what = `The command left no commit checked out in ${path}, or replaced its .git.`;
  return new GitError(what, null, undefined);
}

function explain(error: unknown, name: string): unknown {
  if (!(error instanceof ToolFileError)) return error;
  return new GitError(`.git/${name} of the worktree: ${error.message}`, null, error);
}
