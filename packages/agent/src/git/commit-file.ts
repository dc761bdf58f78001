import { runGit } from './git.ts';
import type { Mirror } from './git-mirror.ts';

/** A file of a commit cannot be read. The message says why, and continues its name. */
export class CommitFileError extends Error {
  override name = 'CommitFileError';
}

export interface CommitFile {
  /** Identifies the content. */
  blob: string;
  text: string;
}

const FILE_BYTES_MAX = 256 * 1024;

/**
 * Reads a file of a commit of the mirror. No link is followed.
 *
 * @returns null: the commit has no such path.
 * @throws {CommitFileError}
 */
export async function readCommitFile(
  { gitDir }: Mirror,
  sha: string,
  path: string,
): Promise<CommitFile | null> {
  const git = { gitDir, isAfterTool: true } as const;
  const listed = await runGit(['ls-tree', '--long', '--full-tree', sha, '--', path], git);
  if (listed === '') return null;
  const [, blob, size] = /^100\d+ blob ([0-9a-f]+) +(\d+)\t/.exec(listed) ?? [];
  if (blob === undefined) throw new CommitFileError('is not a regular file');
  if (Number(size) > FILE_BYTES_MAX) throw new CommitFileError('is larger than 256 KB');
  return { blob, text: await runGit(['cat-file', 'blob', blob], git) };
}
