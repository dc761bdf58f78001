import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A file that a tool may have written is not what the agent reads; the message says why. */
export class ToolFileError extends Error {
  override name = 'ToolFileError';
}

export interface ToolFileLimits {
  bytesMax: number;
  /** The only user whose files are read: a link to a file of another user is refused. */
  uid?: number | undefined;
}

/**
 * Opens a file that a tool may have written, at a path that the tool knows: only a regular file,
 * never through a link in its last part, and without waiting for the other end of a pipe.
 *
 * @returns null when there is no such file.
 * @throws {ToolFileError}
 */
export async function openToolFile(file: string, uid?: number): Promise<FileHandle | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let handle: FileHandle;
  try {
    handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    const why = code === 'ELOOP' ? 'it is a link' : message;
    throw new ToolFileError(`The file is not readable: ${why}.`, { cause: error });
  }
  const found = await handle.stat();
  if (found.isFile() && (uid === undefined || found.uid === uid)) return handle;
  await handle.close();
  throw new ToolFileError(
    found.isFile() ? 'The file belongs to another user.' : 'It is not a regular file.',
  );
}

/**
 * Reads a file that a tool may have written, see `openToolFile`.
 *
 * @returns null when there is no such file.
 * @throws {ToolFileError} also when the file is larger than allowed.
 */
export async function readToolFile(
  file: string,
  { bytesMax, uid }: ToolFileLimits,
): Promise<Buffer | null> {
  const handle = await openToolFile(file, uid);
  if (handle === null) return null;
  try {
    // The size is not trusted: the file may grow while it is read.
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(size, bytesMax) + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) return buffer.subarray(0, length);
      length += bytesRead;
    }
    throw new ToolFileError(`The file is larger than ${bytesMax} bytes.`);
  } finally {
    await handle.close();
  }
}
