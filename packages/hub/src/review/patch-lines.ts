/** A range of lines of a file, on one side of a patch. */
export interface PatchPlace {
  path: string;
  side: 'base' | 'result';
  startLine: number;
  endLine: number;
  lines: string;
}

/** The text that an agent puts in the place of a secret. */
const REDACTED = '[redacted]';

/**
 * Whether a patch shows one of these lines with another text. It says nothing about lines outside
 * of its hunks, nor about files that are not in it.
 */
export function contradicts(patch: string, place: PatchPlace): boolean {
  const texts = place.lines.split('\n');
  for (const { number, text } of linesOf(patch, place)) {
    if (number < place.startLine || number > place.endLine) continue;
    // The clone has the line with its secret.
    if (!text.includes(REDACTED) && text !== texts[number - place.startLine]) return true;
  }
  return false;
}

interface Line {
  number: number;
  text: string;
}

/** The lines of one side of a file that the hunks of a patch show. */
function* linesOf(patch: string, { path, side }: PatchPlace): Generator<Line> {
  const header = side === 'base' ? '--- ' : '+++ ';
  let isFile = false;
  let hunk: Hunk | null = null;
  for (const line of patch.split('\n')) {
    if (hunk !== null && hunk.own + hunk.others > 0) {
      const shown = takeLine(hunk, line);
      if (isFile && shown !== null) yield shown;
      continue;
    }
    if (line.startsWith('diff --git ')) isFile = false;
    else if (line.startsWith(header)) isFile = nameOf(line.slice(header.length)) === path;
    hunk = openHunk(line, side);
  }
}

/** The rest of a hunk that is read. */
interface Hunk {
  /** The marks of lines that only this side has, and only the other. */
  marks: readonly [own: string, other: string];
  /** Of the next line of this side. */
  number: number;
  /** Lines of this side and of the other. */
  own: number;
  others: number;
}

function openHunk(line: string, side: PatchPlace['side']): Hunk | null {
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
  if (found === null) return null;
  const [, baseStart, baseCount = 1, resultStart, resultCount = 1] = found;
  const [base, result] = [Number(baseCount), Number(resultCount)];
  return side === 'base'
    ? { marks: ['-', '+'], number: Number(baseStart), own: base, others: result }
    : { marks: ['+', '-'], number: Number(resultStart), own: result, others: base };
}

function takeLine(hunk: Hunk, line: string): Line | null {
  const [mark = ''] = line;
  // The file has no newline at its end.
  if (mark === '\\') return null;
  const [own, other] = hunk.marks;
  if (mark !== own) hunk.others -= 1;
  if (mark === other) return null;
  hunk.own -= 1;
  hunk.number += 1;
  return { number: hunk.number - 1, text: line.slice(1) };
}

/** The path of a file in a header, which git quotes if it has special characters. */
function nameOf(text: string): string | null {
  const name = text.startsWith('"') ? unquote(text) : text.replace(/\t$/, '');
  return /^[ab]\//.test(name) ? name.slice(2) : null;
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
};

function unquote(text: string): string {
  const inner = text.slice(1, text.lastIndexOf('"'));
  const bytes = inner.replaceAll(/\\([0-7]{3}|.)|[^\\]+/gs, (whole, escaped?: string) => {
    if (escaped === undefined) return Buffer.from(whole).toString('latin1');
    if (escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped, 8));
    return escapes[escaped] ?? escaped;
  });
  return Buffer.from(bytes, 'latin1').toString();
}
