import { stripVTControlCharacters } from 'node:util';
import { TITLE_CHARS_MAX } from '@signalbox/contract';
import type { JobRow } from './store.ts';

/** Of a prompt, the beginning that its title is cut from: the title of most, and little to read. */
const BEGINNING_CHARS = 2_000;

/** Prompts up to this length are no more to read than a title. */
const SHORT_PROMPT_CHARS = 500;

/** 100 letters of most scripts beyond Latin: a page of lists stays small in any language. */
const TITLE_BYTES_MAX = 300;
const encoder = new TextEncoder();
/** Only the count of what fits is used. */
const encoded = new Uint8Array(TITLE_BYTES_MAX);

/** Printable ASCII with single spaces between its words: a title without any change. */
const plainText = /^[!-~]+(?: [!-~]+)*$/;

/** The columns that a title is made from. The beginning is null if the row has its title. */
export type TitleColumns = Pick<JobRow, 'title'> & { beginning: string | null };

/** The column `beginning` of a row of `jobs`. */
export const PROMPT_BEGINNING = `CASE WHEN title IS NULL THEN substr(prompt, 1, ${BEGINNING_CHARS})
  END AS beginning`;

/**
 * The title of a prompt: its first line with text in it, without terminal codes, control characters
 * and runs of spaces, cut to TITLE_CHARS_MAX and about TITLE_BYTES_MAX.
 */
export function titleOf(prompt: string): string {
  const [line = ''] = /\S[^\r\n]*/.exec(prompt) ?? [];
  // Nearly all titles. The rest of this function took 2.7 % of the time of a busy hub.
  const start = line.slice(0, TITLE_CHARS_MAX + 1);
  if (plainText.test(start)) return start.length > TITLE_CHARS_MAX ? cutText(start) : start;
  // More than enough for a title, so that a prompt of one long line costs no more than others.
  const text = stripVTControlCharacters(line.slice(0, BEGINNING_CHARS))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const { read } = encoder.encodeInto(text, encoded);
  const fitting = Math.min(read, TITLE_CHARS_MAX);
  if (text.length === fitting) return text;
  return cutText(text, fitting);
}

function cutText(text: string, chars = TITLE_CHARS_MAX): string {
  const cut = text.slice(0, chars - 1);
  // Not within a character of two code units: half of one is no text.
  return `${cut.replace(/[\ud800-\udbff]$/, '').trimEnd()}…`;
}

/** The column `title` for a prompt: null where the title can as well be cut from the prompt. */
export function storedTitleOf(prompt: string): string | null {
  return prompt.length > SHORT_PROMPT_CHARS ? titleOf(prompt) : null;
}

export function titleOfRow({ title, beginning }: TitleColumns): string {
  return title ?? titleOf(beginning ?? '');
}
