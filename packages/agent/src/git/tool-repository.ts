import { join } from 'node:path';
import { readToolFile, ToolFileError } from '../process/tool-file.ts';
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

function noCommit({ path }: Worktree): GitError {
  const what = `The command left no commit checked out in ${path}, or replaced its .git.`;
  return new GitError(what, null, undefined);
}
