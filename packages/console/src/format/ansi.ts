import { invisibleCharacters } from '@signalbox/contract/invisible-characters';
import { type AnsiStyle, applySgr, sameStyle } from './ansi-style.ts';

/** A part of a line with one style. */
export interface AnsiSpan {
  text: string;
  style: AnsiStyle;
}
export type AnsiLine = AnsiSpan[];

/** A text that has this length is continued in another span: to erase from it takes its length. */
const SPAN_CHARS_MAX = 4_000;
/** Limit of style changes in one line; the rest of the line keeps the last style. */
const LINE_SPANS_MAX = 400;
/** Limit of a skipped operating-system command (title, link). */
const COMMAND_CHARS_MAX = 4_096;

// All characters that need handling. Invisible ones are included, because a log that is displayed
// differently from its content is an attack.
const special = new RegExp(
  `[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]|${invisibleCharacters}`,
  'gu',
);
const csi = /[0-?]*[ -/]*[@-~]/y;
const csiUnfinished = /[0-?]*[ -/]*$/y;
const shortEscape = /[ -/]*[0-~]?/y;
// A command ends with BEL or ESC \; a line end or another escape sequence aborts it.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds them.
const commandEnd = /[\u0007\u001b\n]/g;

interface Screen {
  line: AnsiLine;
  style: AnsiStyle;
  /** After a carriage return: the following text overwrites the line, as progress bars do. */
  rewind: boolean;
}

/**
 * Parses a line of terminal output, which begins in the style of the line before it. Colours and
 * weights are kept, carriage returns and backspaces take effect, all other control sequences are
 * dropped. The result contains text only, no markup. Takes linear time for any input.
 *
 * @returns its spans, and the style in which the next line begins.
 */
export function parseAnsiLine(
  text: string,
  style: AnsiStyle,
): { line: AnsiLine; style: AnsiStyle } {
  const screen: Screen = { line: [], style, rewind: false };
  let position = 0;
  while (position < text.length) {
    special.lastIndex = position;
    const match = special.exec(text);
    const next = match?.index ?? text.length;
    if (next > position) writeText(screen, text.slice(position, next));
    if (match === null) break;
    if (text[next] === '\u001b') {
      position = readEscape(screen, text, next);
    } else {
      position = next + match[0].length;
      readControl(screen, match[0]);
    }
  }
  return { line: screen.line, style: screen.style };
}

function writeText(screen: Screen, text: string): void {
  if (screen.rewind) screen.line = [];
  screen.rewind = false;
  const { line, style } = screen;
  const last = line.at(-1);
  const isContinued = last && (line.length >= LINE_SPANS_MAX || sameStyle(last.style, style));
  if (isContinued && last.text.length < SPAN_CHARS_MAX) last.text += text;
  else line.push({ text, style: isContinued ? last.style : style });
}

/** Handles one control character outside a sequence, or a run of invisible characters. */
function readControl(screen: Screen, special: string): void {
  if (special === '\r') screen.rewind = true;
  else if (special === '\b') eraseChar(screen);
  else if (special > '\u009f') writeText(screen, '\ufffd');
}

function eraseChar({ line }: Screen): void {
  const last = line.at(-1);
  if (!last) return;
  last.text = last.text.slice(0, -1);
  if (last.text === '') line.pop();
}

/** Handles the escape sequence at `at`; returns the next position. */
function readEscape(screen: Screen, text: string, at: number): number {
  const introducer = text[at + 1];
  if (introducer === '[') return readCsi(screen, text, at + 2);
  if (introducer !== undefined && ']PX^_'.includes(introducer)) return skipCommand(text, at + 2);
  shortEscape.lastIndex = at + 1;
  shortEscape.exec(text);
  return Math.max(shortEscape.lastIndex, at + 1);
}

function readCsi(screen: Screen, text: string, from: number): number {
  csi.lastIndex = from;
  const match = csi.exec(text);
  if (match) {
    if (match[0].endsWith('m')) screen.style = applySgr(screen.style, match[0].slice(0, -1));
    return csi.lastIndex;
  }
  // Incomplete at the end of the received output: the rest follows with the next part.
  csiUnfinished.lastIndex = from;
  return csiUnfinished.test(text) ? text.length : from;
}

/**
 * Skips a command such as a window title. For an unterminated one, drops only the introducer, so
 * that it cannot hide the rest of a log.
 */
function skipCommand(text: string, from: number): number {
  commandEnd.lastIndex = from;
  const end = commandEnd.exec(text)?.index ?? text.length;
  if (end - from > COMMAND_CHARS_MAX) return from;
  if (text[end] === '\u0007') return end + 1;
  return text[end] === '\u001b' && text[end + 1] === '\\' ? end + 2 : from;
}
