import { stripVTControlCharacters } from 'node:util';
import { invisibleCharacters } from '@signalbox/contract/invisible-characters';

/**
 * Control characters, and invisible ones. Untrusted text (prompts, tool output) must not move the
 * cursor, ring the bell, or be displayed differently from its content.
 */
const unsafeCharacters = new RegExp(
  `[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]|${invisibleCharacters}`,
  'gu',
);

/** Makes text safe to print; line feeds and tabs are kept. */
export function cleanText(text: string): string {
  // A bare carriage return overwrites the line, as progress bars do: keep only the last state.
  const lines = stripVTControlCharacters(text).replace(/\r+\n/g, '\n');
  return lines.replace(/[^\n]*\r(?=[^\n])/g, '').replace(unsafeCharacters, '');
}

/** Select Graphic Rendition (ECMA-48, 8.3.117): colours and weights, which move nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one
const styleSequences = /(\u001b\[[\d;:]*m)/;

/**
 * Makes one line of tool output safe to print and keeps its colours. Ends with a reset if the line
 * has any, so that they do not reach the next line.
 */
export function cleanStyledLine(line: string): string {
  const last = line.replace(/\r+$/, '').replace(/^.*\r/s, '');
  const parts = last.split(styleSequences);
  // A split by a capturing expression has the sequences at the odd places.
  const clean = parts.map((part, index) => (index % 2 === 1 ? part : cleanText(part))).join('');
  return parts.length > 1 ? `${clean}\u001b[0m` : clean;
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
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text))) {
    width += wide.test(segment) ? 2 : 1;
  }
  return width;
}

/** Truncates a plain text to a width and marks the cut with `…`. */
export function truncateText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const columns = wide.test(segment) ? 2 : 1;
    if (used + columns > width - 1) break;
    kept += segment;
    used += columns;
  }
  return `${kept.trimEnd()}…`;
}

export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
