import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type AttachedFile, appendToReport } from '../job/tool-report.ts';
import { readToolFile, ToolFileError } from '../process/tool-file.ts';
import { UploadError, uploadBytes } from '../upload-bytes.ts';
import { contentTypeOf } from './content-type.ts';
import type { JobContext } from './job-context.ts';
import { JobToolError } from './job-tool-error.ts';

const FILE_BYTES_MAX = 20 * 1024 * 1024;

/**
 * Uploads a file of the worktree to the hub, for people who look at the job.
 *
 * @throws {JobToolError} it is outside the worktree, unreadable, too large or holds a secret.
 */
export async function attachFile(
  context: JobContext,
  path: string,
  signal: AbortSignal,
): Promise<AttachedFile> {
  const bytes = await readInside(context, path);
  if (context.redactor.finds(bytes.toString('latin1'))) {
    throw new JobToolError(`${path} contains a secret of this job. Remove it, then attach again.`);
  }
  const { client, ids, reportFile } = context;
  const { workspaceId } = ids;
  const fileName = basename(path);
  const contentType = contentTypeOf(path);
  const draft = { workspaceId, fileName, contentType };
  let uploadId: string;
  try {
    uploadId = await uploadBytes(client, draft, new Uint8Array(bytes), { signal });
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    throw new JobToolError(`${path}: ${error.message}`);
  }
  const file = { uploadId, fileName, contentType, sizeBytes: bytes.length };
  await appendToReport(reportFile, { type: 'file', ...file });
  return file;
}

/**
 * The real path shows where links lead. Then the file is opened by that path and through no link,
 * so that a folder that was exchanged meanwhile leads nowhere.
 */
async function readInside({ roots }: JobContext, path: string): Promise<Buffer> {
  const [worktree = ''] = roots;
  let real: string;
  try {
    real = await realpath(resolve(worktree, path));
  } catch {
    throw new JobToolError(`${path} does not exist in the worktree.`);
  }
  const places = await Promise.all(roots.map(realPlace));
  const below = places.find((place) => isInside(place, real));
  if (below === undefined) throw new JobToolError(`${path} is outside the worktree.`);
  try {
    const bytes = await readToolFile(real, { below, bytesMax: FILE_BYTES_MAX });
    if (bytes !== null) return bytes;
  } catch (error) {
    if (!(error instanceof ToolFileError)) throw error;
    throw new JobToolError(`${path}: ${error.message}`);
  }
  throw new JobToolError(`${path} does not exist in the worktree.`);
}

/** The path of a directory without links, unless it was itself replaced by one. */
async function realPlace(root: string): Promise<string> {
  return join(await realpath(dirname(root)), basename(root));
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith('../') && !way.startsWith('.git/');
}
