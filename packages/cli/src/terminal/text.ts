import { invisibleCharacters } from '@signalbox/contract/invisible-characters';
import { wrapAnsi } from 'fast-wrap-ansi';

/**
 * Control characters, and invisible ones. Untrusted text (prompts, tool output) must not move the
 * cursor, ring the bell, or be displayed differently from its content.
 */
const unsafeCharacters = new RegExp(
  `[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]|${invisibleCharacters}`,
  'gu',
);

/**
 * Control sequences (ECMA-48, 5.4 and 5.6): strings with their content, then others. No part can
 * contain the beginning of another sequence, so the search takes linear time; that of `node:util`
 * does not.
 */
const controlSequences = new RegExp(
  [
    '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u0080-\\u009f]*' +
      '(?:\\u0007|\\u009c|\\u001b\\\\)',
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]',
    '\\u001b[ -/]*[0-~]',
  ].join('|'),
  'g',
);

/** Removes control sequences, and leaves single control characters. */
export function stripSequences(text: string): string {
  return text.replace(controlSequences, '');
}

/** Makes text safe to print; line feeds and tabs are kept. Takes linear time. */
export function cleanText(text: string): string {
  const lines = stripSequences(text).split('\n').map(lastState);
  return lines.join('\n').replace(unsafeCharacters, '');
}

/** A bare carriage return overwrites the line, as progress bars do: keeps only the last state. */
function lastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  const shown = line.slice(0, end);
  return shown.slice(shown.lastIndexOf('\r') + 1);
}

/** Select Graphic Rendition (ECMA-48, 8.3.117): colours and weights, which move nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one
const styleSequences = /(\u001b\[[\d;:]*m)/;
const reset = '\u001b[0m';
/** Those of `Styles` in io.ts. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one
const ownStyles = /(\u001b\[(?:1|2|22|3[1-6]|39)m)/;

/**
 * Makes one line of tool output safe to print and keeps its colours. Ends with a reset if the line
 * has any, so that they do not reach the next line.
 */
export function cleanStyledLine(line: string): string {
  return cleanParts(lastState(line), styleSequences);
}

function cleanParts(line: string, kept: RegExp): string {
  const parts = line.split(kept);
  // A split by a capturing expression has the sequences at the odd places.
  const cleanPart = (part: string, index: number) => {
    if (index % 2 === 0) return cleanText(part);
    return hides(part) ? '' : part;
  };
  const clean = parts.map(cleanPart).join('');
  return parts.length === 1 || clean.endsWith(reset) ? clean : clean + reset;
}

/** Whether a sequence conceals text (8), rather than choosing a colour (38;5;8). */
function hides(sequence: string): boolean {
  const values = sequence.slice(2, -1).split(';').map(Number);
  return values.some((value, index) => value === 8 && values[index - 1] !== 5);
}

/** The styles that a line of this program may contain. */
export type LineStyles = 'none' | 'own' | 'any';

/**
 * Makes any line that this program prints one line that moves nothing. It is the last step before a
 * terminal and also removes what its text should not have contained.
 */
export function safeLine(line: string, styles: LineStyles): string {
  const single = line.replace(/[\r\n\u2028\u2029]+/g, ' ');
  if (styles === 'none') return cleanText(single);
  return cleanParts(single, styles === 'own' ? ownStyles : styleSequences);
}

/** Wraps a line to a width, at words where it can. Takes linear time. */
export function wrapLine(line: string, width: number): string[] {
  if (width === Infinity || (line.length <= width && narrow.test(line))) return [line];
  return wrapAnsi(line, width, { hard: true, trim: false }).split('\n');
}

/** Writes control and invisible characters of a JSON text as `\\u…`. They occur in strings only. */
export function escapeJson(json: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(unsafeCharacters, (run) => run.split('').map(escaped).join(''));
}

/** Makes a line of a file safe to print, and hides nothing of it: `\u001b` becomes `<1b>`. */
export function showControls(line: string): string {
  const show = (char: string) => `<${char.codePointAt(0)?.toString(16).padStart(2, '0')}>`;
  return line.replace(/\r$/, '').replace(unsafeCharacters, (run) => [...run].map(show).join(''));
}

/** Makes text safe to print on a single line. */
export function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji}\ufe0f)/u;
const narrow = /^[\u0020-\u007e]*$/;

/**
 * The number of terminal columns of a text without control characters; colour codes do not count.
 */
export function textWidth(text: string): number {
  if (narrow.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(stripSequences(text))) {
    width += wide.test(segment) ? 2 : 1;
  }
  return width;
}

/** Truncates a plain text to a width and marks the cut with `…`. Reads no more than it keeps. */
export function truncateText(text: string, width: number): string {
  if (text.length <= width && narrow.test(text)) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const columns = wide.test(segment) ? 2 : 1;
    if (used + columns > width) return `${kept.trimEnd()}…`;
    used += columns;
    if (used < width) kept += segment;
  }
  return text;
}

export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
