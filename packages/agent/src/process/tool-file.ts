import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  type FileHandle,
  lchown,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { runProgram } from './run-program.ts';
import type { ToolUser } from './tool-user.ts';

/*
 * Everything that the agent reads or writes where a tool may write passes through here. A tool can
 * put a link, a pipe or a device at every place that it may write to.
 */

/** A file that a tool may have written is not what the agent reads; the message says why. */
export class ToolFileError extends Error {
  override name = 'ToolFileError';
}

export interface ToolFilePlace {
  /**
   * The directory of the tool that the file is in; it is not followed either. What leads there is
   * the agent's own. Default: the parent of the file.
   */
  below?: string;
  /** The only user whose files are read: a link to a file of another user is refused. */
  uid?: number | undefined;
}

export interface ToolFileLimits extends ToolFilePlace {
  bytesMax: number;
}

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const REMOVALS_MAX = 3;
/** Of a large directory on a slow disk. */
const REMOVAL_MS_MAX = 60 * 60_000;
const COPY_BYTES = 1024 * 1024;
const READ_BYTES = 64 * 1024;
/** Of macOS (open(2)): no link in any part of the path. */
const O_NOFOLLOW_ANY = 0x2000_0000;

/**
 * Opens a file that a tool may have written: only a regular file with one name, through no link,
 * and without waiting for the other end of a pipe.
 *
 * @returns null when there is no such file.
 * @throws {ToolFileError}
 */
export async function openToolFile(
  file: string,
  { below = dirname(file), uid }: ToolFilePlace = {},
): Promise<FileHandle | null> {
  const handle = await inFolder(below, dirname(file), (folder) =>
    open(join(folder, basename(file)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | everyPart),
  );
  if (handle !== null) await check(handle, uid);
  return handle;
}

/**
 * Reads a file that a tool may have written, see `openToolFile`.
 *
 * @returns null when there is no such file.
 * @throws {ToolFileError} also when the file is larger than allowed.
 */
export async function readToolFile(
  file: string,
  { bytesMax, ...place }: ToolFileLimits,
): Promise<Buffer | null> {
  const handle = await openToolFile(file, place);
  if (handle === null) return null;
  try {
    // Its size says nothing: the file may grow while it is read.
    const pieces: Buffer[] = [];
    for (let length = 0; ; ) {
      const piece = Buffer.alloc(READ_BYTES);
      const { bytesRead } = await handle.read(piece, 0, READ_BYTES, length);
      if (bytesRead === 0) return Buffer.concat(pieces, length);
      length += bytesRead;
      if (length > bytesMax) throw tooLarge(bytesMax);
      pieces.push(piece.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/**
 * Copies a file that a tool may have written to an open file of the agent.
 *
 * @returns false when there is no such file.
 * @throws {ToolFileError}
 */
export async function copyToolFile(
  file: string,
  target: FileHandle,
  { bytesMax, ...place }: ToolFileLimits,
): Promise<boolean> {
  const handle = await openToolFile(file, place);
  if (handle === null) return false;
  try {
    const { size, atime, mtimeMs } = await handle.stat();
    if (size > bytesMax) throw tooLarge(bytesMax);
    const buffer = Buffer.alloc(COPY_BYTES);
    for (let copied = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, copied);
      if (bytesRead === 0) break;
      copied += bytesRead;
      if (copied > bytesMax) throw tooLarge(bytesMax);
      await target.writeFile(buffer.subarray(0, bytesRead));
    }
    // Git looks again at files that are not older than its index, so the copy may not be newer.
    await target.utimes(atime, Math.floor(mtimeMs / 1_000));
    return true;
  } finally {
    await handle.close();
  }
}

/**
 * Appends a text to a file of this user, as one write, so that several processes may append. Makes
 * the file when it is missing.
 *
 * @throws {ToolFileError}
 */
export async function appendToToolFile(file: string, text: string): Promise<void> {
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | everyPart;
  const folder = dirname(file);
  const handle = await inFolder(folder, folder, (at) =>
    open(join(at, basename(file)), flags, 0o600),
  );
  if (handle === null) throw new ToolFileError(`There is no folder ${folder}.`);
  await check(handle, process.geteuid?.());
  try {
    await handle.appendFile(text);
  } finally {
    await handle.close();
  }
}

/**
 * Puts a new file into the place of a file in a directory of the tool. What is there is replaced
 * and never written to. Missing folders of its path are made.
 *
 * @param write fills the new file.
 * @throws {ToolFileError}
 */
export async function replaceToolFile(
  file: string,
  { below, user }: { below: string; user: ToolUser | null },
  write: (handle: FileHandle) => Promise<unknown>,
): Promise<void> {
  const done = await inFolder(
    below,
    dirname(file),
    async (folder) => {
      const draft = join(folder, `signalbox-${randomBytes(12).toString('hex')}`);
      const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | everyPart, 0o644);
      try {
        await write(handle);
        if (user !== null) await handle.chown(user.uid, user.gid);
        await rename(draft, join(folder, basename(file)));
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      } finally {
        await handle.close();
      }
      return true;
    },
    user,
  );
  if (done === null) throw new ToolFileError(`There is no folder ${below}.`);
}

/**
 * Deletes a directory that a tool may have written to, with all its content. `rm` of the system
 * goes by open directories; Node's goes by paths, which a process that was left behind can
 * exchange.
 */
export async function removeToolTree(path: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await runProgram('rm', ['-rf', '--', path], { limitMs: REMOVAL_MS_MAX });
      return;
    } catch (error) {
      // A process that is being ended may still have added a file.
      if (tries === REMOVALS_MAX) throw error;
    }
  }
}

/**
 * Moves entries of a directory that a tool may have written to into another one. An entry that is
 * not there is left out.
 *
 * @throws {ToolFileError}
 */
export async function moveToolEntries(
  from: string,
  to: string,
  names: readonly string[],
): Promise<void> {
  const done = await inFolder(from, from, async (folder) => {
    const present = new Set(await readdir(folder));
    for (const name of names) {
      if (present.has(name)) await rename(join(folder, name), join(to, name));
    }
    return true;
  });
  if (done === null) throw new ToolFileError(`There is no folder ${from}.`);
}

const everyPart = process.platform === 'darwin' ? O_NOFOLLOW_ANY : 0;

/**
 * Calls an action with a path of a folder that stays the same folder when a tool renames it: on
 * Linux, that of an open directory. On macOS the path itself, where each open refuses all links.
 *
 * @param below see `ToolFilePlace`.
 * @param makeAs make missing folders for this user, null: the agent's own; absent: make none.
 * @returns null when there is no such folder or file.
 * @throws {ToolFileError}
 */
async function inFolder<Result>(
  below: string,
  path: string,
  action: (folder: string) => Promise<Result>,
  makeAs?: ToolUser | null,
): Promise<Result | null> {
  const parts = relative(below, path)
    .split('/')
    .filter((part) => part !== '');
  if (parts.includes('..')) throw new ToolFileError('The file is outside of its directory.');
  let held: FileHandle | null = null;
  try {
    let folder = join(await realpath(dirname(below)), basename(below));
    for (const part of [null, ...parts]) {
      if (part !== null) folder = join(folder, part);
      if (part !== null && makeAs !== undefined) await makeFolder(folder, makeAs);
      const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | everyPart;
      const next: FileHandle = await open(folder, flags);
      await held?.close();
      held = next;
      if (process.platform === 'linux') folder = `/proc/self/fd/${next.fd}`;
    }
    return await action(folder);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    if (code === 'ENOENT') return null;
    throw new ToolFileError(`The file is not accessible: ${reasons[code] ?? code}.`, {
      cause: error,
    });
  } finally {
    await held?.close();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ELOOP: 'it is a link',
  ENOTDIR: 'a folder of its path is a link, or not a folder',
  // Of a socket, or of a pipe without a reader.
  ENXIO: 'it is not a regular file',
  EISDIR: 'it is not a regular file',
  EACCES: 'the permission is missing',
};

async function makeFolder(path: string, user: ToolUser | null): Promise<void> {
  try {
    await mkdir(path, { mode: 0o755 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  if (user !== null) await lchown(path, user.uid, user.gid);
}

/** Refuses what was opened, and closes it. */
async function check(handle: FileHandle, uid: number | undefined): Promise<void> {
  const why = problemOf(await handle.stat(), uid);
  if (why === null) return;
  await handle.close();
  throw new ToolFileError(why);
}

function problemOf(found: Stats, uid: number | undefined): string | null {
  if (!found.isFile()) return 'It is not a regular file.';
  if (uid !== undefined && found.uid !== uid) return 'The file belongs to another user.';
  // A name elsewhere may be that of a person's file.
  return found.nlink > 1 ? 'The file has several names (hard links).' : null;
}

function tooLarge(bytesMax: number): ToolFileError {
  return new ToolFileError(`The file is larger than ${bytesMax} bytes.`);
}
