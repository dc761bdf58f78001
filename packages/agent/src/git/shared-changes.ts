import { type ChangedFileCount, COUNTED_FILES_MAX, PATCH_BYTES_MAX } from '@signalbox/contract';
import { GitError, type GitOptions, runGit } from './git.ts';
import type { Mirror } from './git-mirror.ts';

/** A part of the body of a completion. */
const COUNTS_BYTES_MAX = 30_000;
/** Larger changes are not shared at all; cutting them would need all of them in memory. */
const DIFF_BYTES_MAX = 64 * 1024 * 1024;

export interface CommitRange {
  mirror: Mirror;
  baseSha: string;
  commitSha: string;
}

/** Counts the lines of each changed file; of many files, of the first that fit. */
export async function countLines(range: CommitRange): Promise<ChangedFileCount[]> {
  const { baseSha, commitSha } = range;
  const args = ['diff-tree', '-r', '-z', '--numstat', '--no-renames', '--no-ext-diff'];
  const listed = await runGit([...args, '--no-textconv', baseSha, commitSha], gitOf(range));
  const counts: ChangedFileCount[] = [];
  let bytes = 0;
  for (const line of listed.split('\0')) {
    const [, added = '', deleted = '', path = ''] = /^(\d+|-)\t(\d+|-)\t(.+)$/s.exec(line) ?? [];
    if (path === '') continue;
    const isText = added !== '-';
    const count = {
      path,
      ...(isText ? { added: Number(added), deleted: Number(deleted) } : {}),
    };
    bytes += Buffer.byteLength(JSON.stringify(count)) + 1;
    if (bytes > COUNTS_BYTES_MAX || counts.length === COUNTED_FILES_MAX) break;
    counts.push(count);
  }
  return counts;
}

/** The name of a file after its changes, from its part of a diff; null if it was deleted. */
export function changedNameOf(part: string): string | null {
  // Git quotes unusual characters, and ends a name with spaces by a tab.
  const [, plain, quoted] = /^\+\+\+ (?:b\/([^\t\n]*)\t?|"b\/(.*)"\t?)$/m.exec(part) ?? [];
  return plain ?? quoted ?? null;
}

/** Null: git cannot show the changes, for instance because they are too large. */
export async function readDiff(args: readonly string[], git: GitOptions): Promise<string | null> {
  const plain = ['diff-tree', '-r', '-p', '--no-ext-diff', '--no-textconv'];
  try {
    return await runGit([...plain, ...args], git);
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}

/** A unified diff without secrets. */
export interface Patch {
  text: string;
  /** Changed files that are not in it. */
  filesOmitted: number;
}

/** Removes the secrets that the agent knows. */
export interface Secrets {
  redact(text: string): string;
  finds(text: string): boolean;
}

/**
 * Makes the patch of the changes: whole files, as many as fit.
 *
 * @param left Files to leave out, by their names as `changedNameOf` returns them.
 * @returns null if the changes are too large to be read.
 */
export async function makePatch(
  range: CommitRange,
  secrets: Secrets,
  left: ReadonlySet<string> = new Set(),
): Promise<Patch | null> {
  const { baseSha, commitSha } = range;
  const git = { ...gitOf(range), outputBytesMax: DIFF_BYTES_MAX };
  const whole = await readDiff(['--find-renames', '--full-index', baseSha, commitSha], git);
  if (whole === null) return null;
  const files = whole.split(/^(?=diff --git )/m).filter((file) => file !== '');
  const shown: string[] = [];
  let bytes = 0;
  for (const file of files) {
    if (left.has(changedNameOf(file) ?? '')) continue;
    // Redacting a file that cannot fit would only take time.
    const clean = file.length > PATCH_BYTES_MAX ? null : hideSecrets(file, secrets);
    const size = clean === null ? Infinity : Buffer.byteLength(clean);
    if (clean === null || bytes + size > PATCH_BYTES_MAX) continue;
    bytes += size;
    shown.push(clean);
  }
  return { text: shown.join(''), filesOmitted: files.length - shown.length };
}

/**
 * Replaces secrets line by line, so that the lines keep their places. Returns null if a secret
 * remains that spans lines.
 */
function hideSecrets(file: string, secrets: Secrets): string | null {
  const lines = file.toWellFormed().split('\n').map(secrets.redact);
  // The first character of a line of a diff is not part of the file.
  const texts = lines.map((line) => line.slice(1)).join('\n');
  return secrets.finds(texts) ? null : lines.join('\n');
}

function gitOf({ mirror }: CommitRange): GitOptions {
  return { gitDir: mirror.gitDir, isAfterTool: true };
}
