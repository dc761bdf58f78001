import type { PatchLine } from '../format/patch.ts';
import { type ReviewFile, runsOf } from './review-files.ts';
import type { LineNote, PlacedFindings } from './review-notes.ts';
import {
  type LineRange,
  lineKey,
  type PlacedThreads,
  pathOn,
  type Thread,
} from './review-threads.ts';

/** Lines beside each other; in the unified view one of both. */
export interface LineRow {
  type: 'lines';
  key: string;
  file: ReviewFile;
  /** Undefined: an empty place beside the other side. */
  left: PatchLine | undefined;
  right: PatchLine | undefined;
  /** The line that this one replaces, or that replaces it: their changes are marked. */
  partner: PatchLine | undefined;
}

/** One row of the list of a review. */
export type ReviewRow =
  | { type: 'file'; key: string; file: ReviewFile; isOpen: boolean; threadCount: number }
  | { type: 'note'; key: string; text: string }
  | { type: 'hunk'; key: string; title: string }
  | LineRow
  | { type: 'finding'; key: string; note: LineNote }
  | { type: 'thread'; key: string; thread: Thread; isElsewhere: boolean }
  | { type: 'composer'; key: string };

export interface RowsInput {
  files: readonly ReviewFile[];
  isOpen: (file: ReviewFile) => boolean;
  isSplit: boolean;
  placed: PlacedThreads;
  notes: ReadonlyMap<string, readonly LineNote[]>;
  /** Of other jobs. */
  findings: PlacedFindings;
}

/** All rows of a review, in order. */
export function rowsOf(input: RowsInput): ReviewRow[] {
  const { files, isOpen, placed, findings } = input;
  return [
    ...placed.elsewhere.map((thread) => threadRow(thread, true)),
    ...findingRows('elsewhere', findings.elsewhere),
    ...files.flatMap((file) => {
      const isFileOpen = isOpen(file);
      const rows = isFileOpen ? rowsOfFile(file, input) : [];
      const threadCount = rows.filter(({ type }) => type === 'thread').length;
      return [
        { type: 'file' as const, key: `file:${file.id}`, file, isOpen: isFileOpen, threadCount },
        ...rows,
      ];
    }),
  ];
}

function findingRows(place: string, notes: readonly LineNote[] = []): ReviewRow[] {
  return notes.map((note, at) => ({ type: 'finding', key: `finding:${place}:${at}`, note }));
}

function threadRow(thread: Thread, isElsewhere: boolean): ReviewRow {
  return { type: 'thread', key: thread.first.commentId, thread, isElsewhere };
}

function rowsOfFile(file: ReviewFile, input: RowsInput): ReviewRow[] {
  const lost = [
    ...(input.placed.byFile.get(file.id) ?? []).map((thread) => threadRow(thread, true)),
    ...findingRows(file.id, input.findings.byFile.get(file.id)),
  ];
  const text = noteOf(file);
  if (text !== undefined) return [...lost, { type: 'note', key: `note:${file.id}`, text }];
  return [
    ...lost,
    ...file.hunks.flatMap((hunk, at) => [
      { type: 'hunk' as const, key: `hunk:${file.id}:${at}`, title: hunk.title },
      ...runsOf(hunk)
        .flatMap((run) => (input.isSplit ? splitRows(file, run) : unifiedRows(file, run)))
        .flatMap((row) => [row, ...rowsBelow(row, input)]),
    ]),
  ];
}

const image = /\.(?:avif|bmp|gif|ico|jpe?g|png|svg|webp)$/i;

function noteOf({ path, isBinary, hunks, change }: ReviewFile): string | undefined {
  if (isBinary) return `${image.test(path) ? 'An image' : 'Not text'}: its content is not shown.`;
  if (hunks.length > 0) return undefined;
  return change === 'renamed' ? 'Renamed, with no changed lines.' : 'No line to show.';
}

type Run = ReturnType<typeof runsOf>[number];

function unifiedRows(file: ReviewFile, { same, deleted, added }: Run): LineRow[] {
  if (same) return [lineRow(file, same, same)];
  return [
    ...deleted.map((line, at) => lineRow(file, line, undefined, added[at])),
    ...added.map((line, at) => lineRow(file, undefined, line, deleted[at])),
  ];
}

function splitRows(file: ReviewFile, { same, deleted, added }: Run): LineRow[] {
  if (same) return [lineRow(file, same, same)];
  const count = Math.max(deleted.length, added.length);
  return Array.from({ length: count }, (_, at) => lineRow(file, deleted[at], added[at]));
}

function lineRow(
  file: ReviewFile,
  left: PatchLine | undefined,
  right: PatchLine | undefined,
  partner?: PatchLine,
): LineRow {
  const key = `line:${file.id}:${left?.before ?? ''}:${right?.after ?? ''}`;
  return { type: 'lines', key, file, left, right, partner };
}

function keysOf({ file, left, right }: LineRow): string[] {
  return [
    ...(left === undefined ? [] : [lineKey(pathOn(file, 'base'), 'base', left.before ?? 0)]),
    ...(right === undefined ? [] : [lineKey(file.path, 'result', right.after ?? 0)]),
  ];
}

/** Notes and threads, which stand below the last of their lines. */
function rowsBelow(row: LineRow, { placed, notes, findings }: RowsInput): ReviewRow[] {
  return keysOf(row).flatMap((key) => [
    ...findingRows(key, [...(notes.get(key) ?? []), ...(findings.byLine.get(key) ?? [])]),
    ...(placed.byLine.get(key) ?? []).map((thread) => threadRow(thread, false)),
  ]);
}

/** Adds the composer below the last of its lines, and what stands there. */
export function withComposer(
  rows: readonly ReviewRow[],
  composed: LineRange | undefined,
): readonly ReviewRow[] {
  if (composed === undefined) return rows;
  const key = lineKey(composed.path, composed.side, composed.endLine);
  const line = rows.findIndex((row) => row.type === 'lines' && keysOf(row).includes(key));
  if (line < 0) return rows;
  const next = rows.findIndex(
    ({ type }, at) => at > line && type !== 'finding' && type !== 'thread',
  );
  const end = next < 0 ? rows.length : next;
  return [...rows.slice(0, end), { type: 'composer', key: 'composer' }, ...rows.slice(end)];
}
