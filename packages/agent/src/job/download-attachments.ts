import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attachment, Job } from '@signalbox/contract';
import { ApiError } from '@signalbox/sdk';
import { removeToolTree } from '../process/tool-file.ts';
import { showToUser } from '../process/tool-user.ts';
import type { JobDirectory } from '../state-directory.ts';
import { ENVIRONMENT_RETRY, JobFailure, type JobWork } from './job-work.ts';

/** With its number, a name of this length fits into every file system. */
const NAME_CHARS_MAX = 100;
const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

export interface AttachedFile extends Attachment {
  path: string;
}

/**
 * The files that are attached to a job, and where they are on this machine. A name keeps only what
 * is harmless in paths, shells and prompts; its number makes it unique.
 */
export function attachedFiles(
  job: Pick<Job, 'attachments'>,
  directory: Pick<JobDirectory, 'attachments'>,
): AttachedFile[] {
  return (job.attachments ?? []).map((attachment, at) => {
    const safe = attachment.fileName.replace(/[^A-Za-z0-9._-]/g, '_').slice(-NAME_CHARS_MAX);
    return { ...attachment, path: join(directory.attachments, `${at + 1}-${safe}`) };
  });
}

/** Downloads the files that are attached to the job, anew in each attempt. */
export async function downloadAttachments(work: JobWork): Promise<void> {
  const { claimed, directory, settings } = work;
  const files = attachedFiles(claimed.job, directory);
  if (files.length === 0) return;
  // A tool of an earlier attempt may have changed what is there.
  await removeToolTree(directory.attachments);
  await mkdir(directory.attachments, { mode: 0o700 });
  for (const file of files) await download(work, file);
  await showToUser(directory.attachments, settings.toolUser);
}

async function download({ claimed, settings, signal }: JobWork, file: AttachedFile) {
  const { workspaceId } = claimed;
  const { uploadId, fileName, path } = file;
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  const handle = await open(path, flags, 0o600);
  try {
    const { uploads } = settings.client;
    const found = await uploads.getDownloadUrl({ workspaceId, uploadId }, { signal });
    const answer = await fetch(found.downloadUrl, { signal, redirect: 'error' });
    if (!answer.ok || answer.body === null) throw new Error(`it ended with HTTP ${answer.status}`);
    const sha256 = await writeBytes(answer.body, handle, file.sizeBytes);
    if (sha256 !== found.sha256) throw new Error('its bytes are not those of the upload');
  } catch (error) {
    const summary = `The attachment ${fileName} was not downloaded: ${reasonOf(error)}.`;
    const isGone = error instanceof ApiError && error.code === 'UPLOAD_NOT_FOUND';
    const retry = isGone ? null : ENVIRONMENT_RETRY;
    throw new JobFailure('environment', 'attachment_failed', summary, retry);
  } finally {
    await handle.close();
  }
}

/** @returns the SHA-256 of the bytes. */
async function writeBytes(
  body: AsyncIterable<Uint8Array>,
  handle: FileHandle,
  sizeBytes: number,
): Promise<string> {
  const hash = createHash('sha256');
  let written = 0;
  for await (const chunk of body) {
    written += chunk.length;
    if (written > sizeBytes) throw new Error(`it has more than ${sizeBytes} bytes`);
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  if (written < sizeBytes) throw new Error(`it has ${written} of ${sizeBytes} bytes`);
  return hash.digest('hex');
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return (cause instanceof Error ? cause.message : message).replace(/\.$/, '');
}
