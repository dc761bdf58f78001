import { type AnsiStyle, applySgr, plainStyle, sameStyle } from './ansi-style.ts';

/** A stretch of text in one style. */
export interface AnsiSpan {
  text: string;
  style: AnsiStyle;
}
export type AnsiLine = AnsiSpan[];

/** A line longer than this continues on the next one, so that no line stalls the page. */
const LINE_CHARS_MAX = 4_000;
/** More changes of style than this in one line are decoration: the rest of it stays in one. */
const LINE_SPANS_MAX = 400;
/** Operating-system commands (titles, links) and the like are skipped, but not without end. */
const COMMAND_CHARS_MAX = 4_096;

// Everything that is not simply text. The direction marks are here because a log that reads
// differently from what it says is an attack (CVE-2021-42574).
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds.
const special = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const csi = /[0-?]*[ -/]*[@-~]/y;
const csiUnfinished = /[0-?]*[ -/]*$/y;
const shortEscape = /[ -/]*[0-~]?/y;
// A command ends with BEL or ESC \; a line end or another escape sequence breaks it off.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds.
const commandEnd = /[\u0007\u001b\n]/g;

interface Screen {
  lines: AnsiLine[];
  line: AnsiLine;
  lineChars: number;
  style: AnsiStyle;
  /** A carriage return came: what follows overwrites the line, as progress bars do. */
  rewind: boolean;
}

/**
 * Terminal output as lines of styled text: colours and weights are kept, carriage returns and
 * backspaces act, every other control sequence is dropped. The result holds text only; nothing
 * in it can become markup. Takes linear time, whatever the input.
 */
export function parseAnsi(text: string): AnsiLine[] {
  const screen: Screen = { lines: [], line: [], lineChars: 0, style: plainStyle, rewind: false };
  let position = 0;
  while (position < text.length) {
    special.lastIndex = position;
    const next = special.exec(text)?.index ?? text.length;
    if (next > position) writeText(screen, text.slice(position, next));
    if (next >= text.length) break;
    position =
      text[next] === '\u001b' ? readEscape(screen, text, next) : readControl(screen, text, next);
  }
  if (screen.line.length > 0) endLine(screen);
  return screen.lines;
}

function writeText(screen: Screen, text: string): void {
  if (screen.rewind) {
    screen.line = [];
    screen.lineChars = 0;
    screen.rewind = false;
  }
  let rest = text;
  while (screen.lineChars + rest.length > LINE_CHARS_MAX) {
    const room = LINE_CHARS_MAX - screen.lineChars;
    appendSpan(screen, rest.slice(0, room));
    endLine(screen);
    rest = rest.slice(room);
  }
  appendSpan(screen, rest);
}

function appendSpan(screen: Screen, text: string): void {
  if (text === '') return;
  screen.lineChars += text.length;
  const last = screen.line.at(-1);
  if (last && (screen.line.length >= LINE_SPANS_MAX || sameStyle(last.style, screen.style))) {
    last.text += text;
  } else {
    screen.line.push({ text, style: screen.style });
  }
}

function endLine(screen: Screen): void {
  screen.lines.push(screen.line);
  screen.line = [];
  screen.lineChars = 0;
  screen.rewind = false;
}

/** Acts on one control character that begins no sequence; returns where to go on. */
function readControl(screen: Screen, text: string, at: number): number {
  const char = text[at] as string;
  if (char === '\n') endLine(screen);
  else if (char === '\r') screen.rewind = text[at + 1] !== '\n';
  else if (char === '\b') eraseChar(screen);
  else if (char >= '\u200e') writeText(screen, '\ufffd');
  return at + 1;
}

function eraseChar(screen: Screen): void {
  const last = screen.line.at(-1);
  if (!last) return;
  last.text = last.text.slice(0, -1);
  screen.lineChars -= 1;
  if (last.text === '') screen.line.pop();
}

/** Acts on the escape sequence at `at`; returns where to go on. */
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
  // Cut off at the end of what has arrived: the rest comes with the next piece of output.
  csiUnfinished.lastIndex = from;
  return csiUnfinished.test(text) ? text.length : from;
}

/**
 * Past a command such as a window title. One that never ends is no command: only its introducer
 * is dropped, so that nobody hides the rest of a log behind it.
 */
function skipCommand(text: string, from: number): number {
  commandEnd.lastIndex = from;
  const end = commandEnd.exec(text)?.index ?? text.length;
  if (end - from > COMMAND_CHARS_MAX) return from;
  if (text[end] === '\u0007') return end + 1;
  return text[end] === '\u001b' && text[end + 1] === '\\' ? end + 2 : from;
}
