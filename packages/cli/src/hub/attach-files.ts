import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { contentTypeOf, UploadError, uploadBytes } from '@signalbox/agent';
import { ATTACHMENTS_MAX, UPLOAD_BYTES_MAX } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../terminal/io.ts';
import type { HubSession } from './hub-session.ts';

/**
 * Uploads files for the tool of a job, in their order. All are checked before the first is sent.
 *
 * @returns the ids of the uploads.
 * @throws {CliError} USAGE: too many; FILE_UNREADABLE; UPLOAD_FAILED
 */
export async function attachFiles(
  io: Io,
  { client, workspaceId }: HubSession,
  files: readonly string[],
): Promise<string[]> {
  if (files.length > ATTACHMENTS_MAX) {
    const message = `A job takes at most ${ATTACHMENTS_MAX} files.`;
    throw new CliError(exitCodes.usage, 'USAGE', message);
  }
  for (const file of files) await checkFile(file);
  const uploadIds: string[] = [];
  for (const file of files) {
    const draft = { workspaceId, fileName: basename(file), contentType: contentTypeOf(file) };
    try {
      const bytes = new Uint8Array(await readFile(file));
      const uploadId = await uploadBytes(client, draft, bytes, { signal: io.signal });
      // With an object store, the hub takes the bytes over when it is asked for them.
      await client.uploads.getDownloadUrl({ workspaceId, uploadId }, { signal: io.signal });
      uploadIds.push(uploadId);
    } catch (error) {
      if (!(error instanceof UploadError)) throw error;
      const message = `${file}: ${error.message}`;
      throw new CliError(exitCodes.failed, 'UPLOAD_FAILED', message, { cause: error });
    }
  }
  return uploadIds;
}

async function checkFile(file: string): Promise<void> {
  const unreadable = (why: string, cause?: unknown) =>
    new CliError(exitCodes.usage, 'FILE_UNREADABLE', `${file}: ${why}.`, { cause });
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`it cannot be read (${error.code})`, error);
  });
  if (!found.isFile()) throw unreadable('it is not a file');
  if (found.size > UPLOAD_BYTES_MAX) {
    throw unreadable(`it is larger than the ${UPLOAD_BYTES_MAX / 1024 / 1024} MB of an upload`);
  }
}
