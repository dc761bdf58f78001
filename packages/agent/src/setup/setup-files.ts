import type { Stats } from 'node:fs';
import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseEnv } from 'node:util';
import { askGit } from '../git/git.ts';
import { findCloneRoot } from '../git/git-mirror.ts';
import type { Worktree } from '../git/git-worktree.ts';
import type { Redactor } from '../job/redaction.ts';
import { unlessMissing } from '../missing-file.ts';
import { runProgram } from '../process/run-program.ts';
import { giveToUser, showToUser } from '../process/tool-user.ts';

/** A file of the set-up cannot be put into place; the message says why. */
export class SetupFileError extends Error {
  override name = 'SetupFileError';
}

const COPY_MS_MAX = 10 * 60_000;
const ENVIRONMENT_BYTES_MAX = 1024 * 1024;

/** Copies files and folders of the clone into a worktree that no tool has seen. */
export async function copyFromClone(
  worktree: Worktree,
  paths: readonly string[],
  redactor: Redactor,
): Promise<void> {
  const root = await findCloneRoot(worktree.mirror.clonePath);
  for (const path of paths) {
    const found = await findInClone(root, path);
    const target = await makePlaceFor(worktree, path);
    await copyTree(join(root, path), target);
    await giveToUser(target, worktree.user);
    await learnSecrets(join(root, path), found, redactor);
  }
}

/** Makes links into the clone. */
export async function linkToClone(worktree: Worktree, paths: readonly string[]): Promise<void> {
  const root = await findCloneRoot(worktree.mirror.clonePath);
  for (const path of paths) {
    await findInClone(root, path);
    const target = await makePlaceFor(worktree, path);
    await symlink(join(root, path), target);
    await giveToUser(target, worktree.user);
  }
}

/**
 * Keeps paths out of the commits of a job, those of the tool and those of the agent: they need not
 * be in a `.gitignore`.
 */
export async function excludeFromGit(worktree: Worktree, paths: readonly string[]): Promise<void> {
  const { path, evidenceDir, user } = worktree;
  const lines = paths.map((each) => `/${each.replace(/[\\*?[\]]/g, '\\$&')}\n`).join('');
  for (const gitDir of [evidenceDir, join(path, '.git')]) {
    await mkdir(join(gitDir, 'info'), { recursive: true });
    await writeFile(join(gitDir, 'info', 'exclude'), lines);
  }
  await showToUser(join(evidenceDir, 'info'), user);
  await giveToUser(join(path, '.git', 'info'), user);
}

/** A `.gitignore` of the repository goes before the agent's list. */
export async function requireExcluded(worktree: Worktree, paths: readonly string[]): Promise<void> {
  const git = { gitDir: worktree.evidenceDir, cwd: worktree.path };
  for (const path of paths) {
    if ((await askGit(['check-ignore', '--', path], git)) !== null) continue;
    throw new SetupFileError(`A .gitignore includes ${path}, so the job would commit it.`);
  }
}

async function findInClone(root: string, path: string): Promise<Stats> {
  const found = await lookAt(root, path);
  if (found === null) throw new SetupFileError(`${path} is not in the clone.`);
  if (!found.isFile() && !found.isDirectory()) {
    throw new SetupFileError(`${path} of the clone is neither a file nor a folder.`);
  }
  return found;
}

/** Makes the folders above a path. */
async function makePlaceFor(worktree: Worktree, path: string): Promise<string> {
  await refuseTracked(worktree, path);
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length++) {
    const folder = join(worktree.path, ...parts.slice(0, length));
    if ((await statOf(folder)) !== null) continue;
    await mkdir(folder);
    await giveToUser(folder, worktree.user);
  }
  return join(worktree.path, path);
}

/** In a new worktree there is nothing but what git tracks, and what the set-up has made. */
export async function refuseTracked(worktree: Worktree, path: string): Promise<void> {
  if ((await lookAt(worktree.path, path)) === null) return;
  throw new SetupFileError(
    `${path} is in the worktree already, for instance because git tracks it.`,
  );
}

/**
 * Looks at a path below a folder. A link on the way is refused: it may lead out of the folder.
 *
 * @returns null: there is nothing.
 */
export async function lookAt(root: string, path: string): Promise<Stats | null> {
  const parts = path.split('/');
  for (let length = 1; length <= parts.length; length++) {
    const found = await statOf(join(root, ...parts.slice(0, length)));
    if (found === null || length === parts.length) return found;
    if (found.isDirectory()) continue;
    const part = parts.slice(0, length).join('/');
    throw new SetupFileError(`${path} leads through ${part}, which is not a folder.`);
  }
  return null;
}

const statOf = (file: string) => unlessMissing(lstat(file));

/** Links are copied as links. Blocks are shared where the file system can. */
const copyOptions = process.platform === 'linux' ? ['-a', '--reflink=auto'] : ['-pPR'];

/** Copies a file or a folder to a place where there is nothing. */
export async function copyTree(from: string, to: string): Promise<void> {
  try {
    await runProgram('cp', [...copyOptions, '--', from, to], { limitMs: COPY_MS_MAX });
  } catch (error) {
    throw new SetupFileError(`${from} could not be copied: ${lastWords(error)}`, { cause: error });
  }
}

function lastWords(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return stderr?.trim().split('\n').at(-1) || message;
}

/** The values of a file such as `.env` are hidden like those of the environment. */
async function learnSecrets(file: string, found: Stats, redactor: Redactor): Promise<void> {
  if (!found.isFile() || !basename(file).startsWith('.env')) return;
  if (found.size > ENVIRONMENT_BYTES_MAX) return;
  redactor.learn(parseEnv(await readFile(file, 'utf8')));
}
