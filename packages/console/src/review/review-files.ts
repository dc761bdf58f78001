import { diffArrays } from 'diff';
import { type PatchFile, type PatchHunk, type PatchLine, parsePatch } from '../format/patch.ts';

/** A file of a patch, as the review shows it. */
export interface ReviewFile extends PatchFile {
  /** Unique in the patch: its path, with a number if the patch names it again. */
  id: string;
  lineCount: number;
  /** Written by a program, such as a lock file: folded at first. */
  isGenerated: boolean;
}

/** Reads a patch for a review. */
export function readReviewFiles(patch: string): ReviewFile[] {
  const seen = new Map<string, number>();
  return parsePatch(patch).map((file) => {
    const before = seen.get(file.path) ?? 0;
    seen.set(file.path, before + 1);
    return {
      ...file,
      id: before === 0 ? file.path : `${file.path}#${before + 1}`,
      lineCount: file.hunks.reduce((sum, { lines }) => sum + lines.length, 0),
      isGenerated: generated.test(file.path),
    };
  });
}

const generated = new RegExp(
  [
    '(?:^|/)(?:package-lock\\.json|npm-shrinkwrap\\.json|go\\.sum|[\\w.-]+\\.lock|pnpm-lock\\.yaml)$',
    '\\.min\\.(?:js|css)$|\\.map$|\\.snap$|\\.pb\\.go$|_pb2\\.py$|\\.generated\\.\\w+$',
    '(?:^|/)(?:dist|vendor|node_modules|__snapshots__|generated)/',
  ].join('|'),
);

/** Treats lines that differ in white space only as equal; a hunk without other changes goes. */
export function hideWhiteSpace(file: ReviewFile): ReviewFile {
  const hunks = file.hunks
    .map((hunk) => ({ ...hunk, lines: runsOf(hunk).flatMap(foldRun) }))
    .filter(({ lines }) => lines.some(({ kind }) => kind !== 'same'));
  return { ...file, hunks };
}

/** Deleted lines and the added ones after them, or one line that is the same. */
export interface Run {
  same: PatchLine | undefined;
  deleted: PatchLine[];
  added: PatchLine[];
}

export function runsOf({ lines }: PatchHunk): Run[] {
  const runs: Run[] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (line.kind === 'same') runs.push({ same: line, deleted: [], added: [] });
    else if (last === undefined || last.same || (line.kind === 'deleted' && last.added.length > 0))
      runs.push({ same: undefined, deleted: [], added: [], [line.kind]: [line] });
    else last[line.kind].push(line);
  }
  return runs;
}

/** Long runs are compared place by place: the search for equal lines takes the square of them. */
const COMPARED_LINES_MAX = 400;

function foldRun({ same, deleted, added }: Run): PatchLine[] {
  if (same) return [same];
  if (deleted.length + added.length > COMPARED_LINES_MAX) return [...deleted, ...added];
  const bare = (line: PatchLine) => line.text.replace(/\s+/g, '');
  const parts = diffArrays(deleted, added, { comparator: (a, b) => bare(a) === bare(b) });
  let at = 0;
  let before = 0;
  return parts.flatMap((part) => {
    const { length } = part.value;
    if (part.removed) {
      before += length;
      return deleted.slice(before - length, before);
    }
    const lines = added.slice(at, at + length);
    at += length;
    if (part.added) return lines;
    before += length;
    return lines.map((line, place) => ({
      ...line,
      kind: 'same' as const,
      before: deleted[before - length + place]?.before ?? null,
    }));
  });
}
