import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** A place of a comment, and its lines as they are there. */
export interface CommentPlace {
  path: string;
  side: 'base' | 'result';
  startLine: number;
  endLine: number;
  lines: string;
}

/** A draft that a person has written: on lines, or in a thread. */
export type WrittenDraft =
  | { place: CommentPlace; text: string }
  | { repliesTo: string; text: string };

export interface QuotedThread {
  /** The first comment of the thread. */
  repliesTo: string;
  lines: readonly string[];
}

/** The text that a person comments on: the threads that are open, then the diff. */
export interface ReviewToEdit {
  threads: readonly QuotedThread[];
  diff: string;
}

/** No line of a diff begins with it. */
const MARK = '>';
/** Begins the lines of threads. */
const QUOTE = '|';
const GUIDE = [
  `${MARK} Write a comment below its line. Each line of it begins with ${MARK}, as these do.`,
  `${MARK} Lines with - are those before the work. Leave the diff as it is.`,
];
const GUIDE_OF_THREADS = `${MARK} Lines with ${QUOTE} are open threads. Write a reply below the thread.`;

/** The text that a person comments on in an editor. */
export function diffToEdit({ threads, diff }: ReviewToEdit): string {
  const guide = threads.length === 0 ? GUIDE : [...GUIDE, GUIDE_OF_THREADS];
  return [...guide, ...threads.flatMap(quotedLines), diff].join('\n');
}

function quotedLines({ lines }: QuotedThread): string[] {
  return [...lines.map((line) => `${QUOTE} ${line}`), ''];
}

/**
 * Reads the comments that a person has written between the lines of a diff, and the replies below
 * threads.
 * @throws {CliError} DIFF_CHANGED, COMMENT_MISPLACED.
 */
export function readDiffComments(edited: string, { threads, diff }: ReviewToEdit): WrittenDraft[] {
  const lines = edited.split('\n');
  const isGuide = (line: string, at: number) => line === [...GUIDE, GUIDE_OF_THREADS][at];
  const written = lines.filter((line, at) => !isGuide(line, at));
  const rest = written.filter((line) => !line.startsWith(MARK)).join('\n');
  const quoted = threads.flatMap((thread) => quotedLines(thread).map(() => thread));
  if (rest.trimEnd() !== [...threads.flatMap(quotedLines), diff].join('\n').trimEnd()) {
    throw misplaced(
      'DIFF_CHANGED',
      `The diff or a thread was changed. Begin each line of a comment with ${MARK}`,
    );
  }
  const reader = new DiffReader();
  const drafts: WrittenDraft[] = [];
  let open: WrittenDraft | null = null;
  let linesRead = 0;
  for (const line of written) {
    if (!line.startsWith(MARK)) {
      open = null;
      if (linesRead >= quoted.length) reader.read(line);
      linesRead += 1;
      continue;
    }
    const text = line.slice(MARK.length).replace(/^ /, '');
    if (open !== null) open.text += `\n${text}`;
    else {
      const thread = linesRead > quoted.length ? undefined : quoted[linesRead - 1];
      open = thread ? { repliesTo: thread.repliesTo, text } : { place: reader.place(), text };
      drafts.push(open);
    }
  }
  const trimmed = drafts.map((draft) => ({ ...draft, text: draft.text.trim() }));
  return trimmed.filter(({ text }) => text !== '');
}

function misplaced(code: string, message: string): CliError {
  return new CliError(exitCodes.usage, code, `${message}.`, {
    fix: 'Comment on any other line with: signalbox review JOB --comment FILE:LINE "…"',
  });
}

/** Follows a diff line by line. */
class DiffReader {
  #paths = { base: '', result: '' };
  #next = { base: 0, result: 0 };
  /** Lines that the hunk still has. */
  #left = { base: 0, result: 0 };
  #last: CommentPlace | null = null;

  /** @throws {CliError} COMMENT_MISPLACED: the line before is no line of a file. */
  place(): CommentPlace {
    if (this.#last !== null) return this.#last;
    throw misplaced('COMMENT_MISPLACED', 'A comment must be below a line of a file');
  }

  read(line: string): void {
    if (this.#left.base > 0 || this.#left.result > 0) this.#readInHunk(line);
    else this.#readHeader(line);
  }

  #readInHunk(line: string): void {
    // The file has no newline at its end; the comment is about the line before.
    if (line.startsWith('\\')) return;
    const side = line.startsWith('-') ? 'base' : 'result';
    const number = this.#next[side];
    const lines = line.slice(1);
    this.#last = { path: this.#paths[side], side, startLine: number, endLine: number, lines };
    for (const each of ['base', 'result'] as const) {
      const isThere = each === side || line.startsWith(' ') || line === '';
      if (!isThere) continue;
      this.#next[each] += 1;
      this.#left[each] -= 1;
    }
  }

  #readHeader(line: string): void {
    if (!line.startsWith('\\')) this.#last = null;
    const [, mark, path] = /^(---|\+\+\+) [ab]\/(.*?)\t?$/.exec(line) ?? [];
    if (path !== undefined) this.#paths[mark === '---' ? 'base' : 'result'] = path;
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null) return;
    const [, base, baseCount = 1, result, resultCount = 1] = hunk;
    this.#next = { base: Number(base), result: Number(result) };
    this.#left = { base: Number(baseCount), result: Number(resultCount) };
  }
}
