import type { PatchBeginning, ReviewComment } from '@signalbox/contract';
import type { ReviewFile } from './review-files.ts';

/** A comment on lines, and the replies to it. */
export interface Thread {
  first: ReviewComment;
  replies: ReviewComment[];
}

/** Lines of one side of a file. */
export interface LineRange {
  path: string;
  side: 'base' | 'result';
  startLine: number;
  endLine: number;
}

export interface PlacedThreads {
  /** By `lineKey` of the last line of each. */
  byLine: ReadonlyMap<string, Thread[]>;
  /** By the id of a file: their lines are not in the patch, or were not found. */
  byFile: ReadonlyMap<string, Thread[]>;
  /** Of files that are not in the patch. */
  elsewhere: Thread[];
}

export function lineKey(path: string, side: 'base' | 'result', line: number): string {
  return `${side}:${line}:${path}`;
}

/** Oldest first, each with its replies. */
export function threadsOf(comments: readonly ReviewComment[]): Thread[] {
  const replies = Map.groupBy(comments, ({ repliesTo }) => repliesTo);
  return (replies.get(null) ?? []).map((first) => ({
    first,
    replies: replies.get(first.commentId) ?? [],
  }));
}

/**
 * Where the lines of a comment are in the result of a job; null: not known, or outdated. Nothing
 * is guessed: the place in another round comes from the agent of that round, by git.
 */
export function placeIn(jobId: string, comment: ReviewComment): LineRange | null {
  const { path, side, startLine, endLine, fate } = comment;
  if (comment.jobId === jobId) return { path, side, startLine, endLine };
  if (fate?.jobId !== jobId || fate.path === null) return null;
  if (fate.startLine === null || fate.endLine === null) return null;
  return { path: fate.path, side, startLine: fate.startLine, endLine: fate.endLine };
}

/**
 * Puts each thread below the last of its lines, as far as the patch shows it. The patch of a round
 * does not show the file before the work, on which comments on the base are.
 */
export function placeThreads(
  { jobId, since }: { jobId: string; since: PatchBeginning },
  threads: readonly Thread[],
  files: readonly ReviewFile[],
): PlacedThreads {
  const shown = new Set(files.flatMap(keysOf));
  const ids = new Map(
    files.flatMap(({ path, oldPath, id }) => [
      [oldPath ?? path, id],
      [path, id],
    ]),
  );
  const byLine = new Map<string, Thread[]>();
  const byFile = new Map<string, Thread[]>();
  const elsewhere: Thread[] = [];
  for (const thread of threads) {
    const place = placeIn(jobId, thread.first);
    const isInSight = place !== null && (place.side === 'result' || since === 'work');
    const key = isInSight ? lineKey(place.path, place.side, place.endLine) : null;
    const fileId = ids.get(place?.path ?? thread.first.path);
    if (key !== null && shown.has(key)) addTo(byLine, key, thread);
    else if (fileId !== undefined) addTo(byFile, fileId, thread);
    else elsewhere.push(thread);
  }
  return { byLine, byFile, elsewhere };
}

function addTo(map: Map<string, Thread[]>, key: string, thread: Thread): void {
  const known = map.get(key);
  if (known) known.push(thread);
  else map.set(key, [thread]);
}

/** The name of a file before the change, or after it. */
export function pathOn({ path, oldPath }: ReviewFile, side: LineRange['side']): string {
  return side === 'base' ? (oldPath ?? path) : path;
}

function keysOf(file: ReviewFile): string[] {
  return file.hunks.flatMap(({ lines }) =>
    lines.flatMap(({ before, after }) => [
      ...(before === null ? [] : [lineKey(pathOn(file, 'base'), 'base', before)]),
      ...(after === null ? [] : [lineKey(file.path, 'result', after)]),
    ]),
  );
}

/** The text of these lines, or null where the patch does not show all of them. */
export function linesOf(files: readonly ReviewFile[], range: LineRange): string | null {
  const texts: string[] = [];
  const number = range.side === 'base' ? 'before' : 'after';
  for (const file of files) {
    if (pathOn(file, range.side) !== range.path) continue;
    for (const { lines } of file.hunks) {
      for (const line of lines) {
        const at = line[number];
        if (at !== null && at >= range.startLine && at <= range.endLine) texts.push(line.text);
      }
    }
  }
  return texts.length === range.endLine - range.startLine + 1 ? texts.join('\n') : null;
}
