import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readToolFile, ToolFileError } from '../process/tool-file.ts';
import { identityOf } from '../process/tool-user.ts';
import { GitError } from './git.ts';
import type { Worktree } from './git-worktree.ts';

const REF_BYTES_MAX = 4_096;
const PACKED_REFS_BYTES_MAX = 64 * 1024 * 1024;
/** A symbolic ref that names another one is rare; more are a mistake or a loop. */
const STEPS_MAX = 5;
const refName = /^refs\/[^\s~^:?*[\\]+$/;
const objectName = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Reads which commit the tool's repository has checked out (gitrepository-layout(5)). Git itself
 * would read the tool's configuration on the way.
 *
 * @throws {GitError} the repository is not what the tool was given.
 */
export async function readHead(worktree: Worktree): Promise<string> {
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
    const bytes = await readToolFile(join(path, '.git', name), { bytesMax, uid: user?.uid });
    return bytes?.toString('utf8') ?? null;
  } catch (error) {
    if (!(error instanceof ToolFileError)) throw error;
    throw new GitError(`.git/${name} of the worktree: ${error.message}`, null, error);
  }
}

/** Moves the branch $2 to the commit $3, and HEAD to the branch. New files replace the old. */
const MOVE_HEAD = `set -e; cd "$1/.git"; mkdir -p "$(dirname "refs/heads/$2")"
printf '%s\\n' "$3" > signalbox-ref; mv -f signalbox-ref "refs/heads/$2"
printf 'ref: refs/heads/%s\\n' "$2" > signalbox-ref; mv -f signalbox-ref HEAD`;
/** Files of an unfinished operation of git; its commit is not the agent's to end. */
const unfinished = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
];
const MOVE_MS_MAX = 60_000;

/**
 * Checks out the agent's commit on the job's branch, so that checks and people find a clean state.
 * The index has the files of the commit already. Runs as the tool's user, and not through links
 * that the tool may have put in the way.
 *
 * @returns false if the tool has left something else: its repository then stays as it is.
 */
export async function moveHead(
  { path, branch, user }: Worktree,
  commitSha: string,
): Promise<boolean> {
  const gitDir = join(path, '.git');
  const folders = ['', 'refs', 'refs/heads', dirname(`refs/heads/${branch}`)];
  for (const folder of folders) {
    const found = await statOf(join(gitDir, folder));
    // The last one is made when it is missing; git removes it with its last branch.
    if (!(found?.isDirectory() ?? folder === folders.at(-1))) return false;
  }
  for (const name of unfinished) {
    if ((await statOf(join(gitDir, name))) !== null) return false;
  }
  const { PATH } = process.env;
  const limits = { timeout: MOVE_MS_MAX, killSignal: 'SIGKILL' } as const;
  await promisify(execFile)('/bin/sh', ['-c', MOVE_HEAD, 'sh', path, branch, commitSha], {
    ...{ cwd: '/', env: { PATH }, ...limits, ...identityOf(user) },
  });
  return true;
}

async function statOf(file: string) {
  try {
    return await lstat(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function noCommit({ path }: Worktree): GitError {
  const what = `The command left no commit checked out in ${path}, or replaced its .git.`;
  return new GitError(what, null, undefined);
}
