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

export interface DiffComment {
  place: CommentPlace;
  text: string;
}

/** No line of a diff begins with it. */
const MARK = '>';
const GUIDE = [
  `${MARK} Write a comment below its line. Each line of it begins with ${MARK}, as these do.`,
  `${MARK} Lines with - are those before the work. Leave the diff as it is.`,
];

/** The text that a person comments on in an editor. */
export function diffToEdit(diff: string): string {
  return `${GUIDE.join('\n')}\n${diff}`;
}

/**
 * Reads the comments that a person has written between the lines of a diff.
 * @throws {CliError} DIFF_CHANGED, COMMENT_MISPLACED.
 */
export function readDiffComments(edited: string, diff: string): DiffComment[] {
  const lines = edited.split('\n');
  const isGuide = (line: string, at: number) => line === GUIDE[at];
  const written = lines.filter((line, at) => !isGuide(line, at));
  const rest = written.filter((line) => !line.startsWith(MARK)).join('\n');
  if (rest.trimEnd() !== diff.trimEnd()) {
    throw misplaced(
      'DIFF_CHANGED',
      `The diff was changed. Begin each line of a comment with ${MARK}`,
    );
  }
  const reader = new DiffReader();
  const comments: DiffComment[] = [];
  let open: DiffComment | null = null;
  for (const line of written) {
    if (!line.startsWith(MARK)) {
      open = null;
      reader.read(line);
      continue;
    }
    const text = line.slice(MARK.length).replace(/^ /, '');
    if (open !== null) open.text += `\n${text}`;
    else {
      open = { place: reader.place(), text };
      comments.push(open);
    }
  }
  const trimmed = comments.map((comment) => ({ ...comment, text: comment.text.trim() }));
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
