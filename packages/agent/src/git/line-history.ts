import { GitError, type GitOptions, runGit } from './git.ts';

/** Lines of a file, from 1, both ends with it. */
interface LineRange {
  start: number;
  end: number;
}

export interface LinePlace extends LineRange {
  path: string;
}

/** The fate of lines between two commits. */
interface TracedLines {
  /** A commit changed them, or removed them. */
  isChanged: boolean;
  /** The lines that are there instead, or the same; null: they were removed. */
  place: LinePlace | null;
}

/** Lines that differ between two versions of a file, as a hunk without context has them. */
interface Hunk {
  /** Without lines: after this one. */
  oldStart: number;
  oldCount: number;
  newStart: number;
  newCount: number;
}

/** Larger files are not looked into. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
const unseen = ['--no-ext-diff', '--no-textconv', '--no-color'];

export type LineHistory = ReturnType<typeof openLineHistory>;

/** Reads from a repository what became of lines. Each answer is read once. */
export function openLineHistory(git: GitOptions) {
  const options = { ...git, outputBytesMax: FILE_BYTES_MAX };
  const commits = new Map<string, Promise<boolean>>();
  const files = new Map<string, Promise<readonly string[] | null>>();
  const moves = new Map<string, Promise<ReadonlyMap<string, string | null>>>();
  const diffs = new Map<string, Promise<readonly Hunk[] | null>>();

  /** Null: git refuses, or prints too much. */
  async function ask(args: readonly string[]): Promise<string | null> {
    try {
      return await runGit(args, options);
    } catch (error) {
      git.signal?.throwIfAborted();
      if (error instanceof GitError) return null;
      throw error;
    }
  }

  const hasCommit = (sha: string) =>
    keep(commits, sha, async () => (await ask(['cat-file', '-e', `${sha}^{commit}`])) !== null);

  /** The lines of a file; null: it is not there, or too large. */
  const linesOf = (sha: string, path: string) =>
    keep(files, `${sha}:${path}`, async () => {
      const text = await ask(['cat-file', 'blob', `${sha}:${path}`]);
      return text === null ? null : splitLines(text);
    });

  /** Null: the versions cannot be compared line by line. */
  const hunksOf = (from: string, to: string) =>
    keep(diffs, `${from} ${to}`, async () => {
      const diff = await ask(['diff', '--unified=0', ...unseen, from, to]);
      return diff === null || /^Binary files /m.test(diff) ? null : readHunks(diff);
    });

  /** The path of a file in another commit; null: it was deleted. */
  async function pathIn(from: string, path: string, to: string): Promise<string | null> {
    if (from === to) return path;
    const moved = await keep(moves, `${from} ${to}`, async () => {
      const args = ['diff-tree', '-r', '-z', '--name-status', '--find-renames'];
      return readMoves((await ask([...args, from, to])) ?? '');
    });
    const path2 = moved.get(path);
    return path2 === undefined ? path : path2;
  }

  return {
    hasCommit,
    linesOf,
    pathIn,
    async trace(from: string, place: LinePlace, to: string): Promise<TracedLines> {
      const path = await pathIn(from, place.path, to);
      if (path === null) return { isChanged: true, place: null };
      if (from === to) return { isChanged: false, place };
      const hunks = await hunksOf(`${from}:${place.path}`, `${to}:${path}`);
      if (hunks === null) return { isChanged: true, place: null };
      const { isChanged, range } = mapLines(hunks, place);
      return { isChanged, place: range && { path, ...range } };
    },
  };
}

function keep<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}

export function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.replace(/\r$/, ''));
}

/** Files that have another path, or none (null), by their old path. */
function readMoves(listed: string): Map<string, string | null> {
  const moved = new Map<string, string | null>();
  const fields = listed.split('\0');
  for (let at = 0; at + 1 < fields.length; ) {
    const [status = '', path = '', renamed = ''] = fields.slice(at, at + 3);
    const isRenamed = status.startsWith('R');
    if (isRenamed) moved.set(path, renamed);
    else if (status === 'D') moved.set(path, null);
    at += isRenamed ? 3 : 2;
  }
  return moved;
}

/** Lines of files begin with + or - in a diff without context, so these are all headers. */
function readHunks(diff: string): Hunk[] {
  const found = diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm);
  return Array.from(found, ([, oldStart, oldCount = 1, newStart, newCount = 1]) => ({
    oldStart: Number(oldStart),
    oldCount: Number(oldCount),
    newStart: Number(newStart),
    newCount: Number(newCount),
  }));
}

/** Where lines are after the hunks. Lines that were added beside them do not count. */
function mapLines(
  hunks: readonly Hunk[],
  lines: LineRange,
): { isChanged: boolean; range: LineRange | null } {
  const { start, end } = lines;
  const grownBy = (some: readonly Hunk[]) =>
    some.reduce((sum, { oldCount, newCount }) => sum + newCount - oldCount, 0);
  const before = grownBy(hunks.filter((hunk) => isBefore(hunk, lines)));
  const inside = hunks.filter((hunk) => !isBefore(hunk, lines) && !isAfter(hunk, lines));
  const [first, last] = [inside[0], inside.at(-1)];
  const hasStart = first !== undefined && first.oldCount > 0 && first.oldStart <= start;
  const hasEnd = last !== undefined && last.oldCount > 0 && last.oldStart + last.oldCount > end;
  const range = {
    start: hasStart ? firstNew(first) : start + before,
    end: hasEnd ? firstNew(last) + last.newCount - 1 : end + before + grownBy(inside),
  };
  return { isChanged: inside.length > 0, range: range.end < range.start ? null : range };
}

/** A hunk without old lines adds after `oldStart`. */
function isBefore({ oldStart, oldCount }: Hunk, { start }: LineRange): boolean {
  return oldCount === 0 ? oldStart < start : oldStart + oldCount <= start;
}

function isAfter({ oldStart, oldCount }: Hunk, { end }: LineRange): boolean {
  return oldCount === 0 ? oldStart >= end : oldStart > end;
}

/** A hunk without new lines names the line before. */
function firstNew({ newStart, newCount }: Hunk): number {
  return newCount === 0 ? newStart + 1 : newStart;
}
