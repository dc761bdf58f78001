// Prints the demo's steps and the output of its commands in the width of the terminal.
import { stripVTControlCharacters, styleText } from 'node:util';

/** A step is shown on one line, which is replaced when the step has ended. */
const CLEAR_LINE = '\r\u001b[2K';
/** A pseudo-terminal that was never given a size says 0. */
const COLUMNS_DEFAULT = 80;

export function say(line = ''): void {
  process.stdout.write(`${wrapLine(line, columns())}\n`);
}

export function sayHeading(text: string): void {
  say(`\n${styleText('bold', text)}`);
}

/** Output of a command, set in under its step. Takes complete lines. */
export function sayOutput(line: string): void {
  say(line === '' ? '' : `  ${line}`);
}

export function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`;
}

/** Says what is under way, then how it went and how long it took. */
export async function step<T extends { note?: string }>(
  title: string,
  act: () => Promise<T>,
  { isLong = false } = {},
): Promise<T> {
  const beganMs = performance.now();
  // A long step prints lines between its beginning and its end.
  const isReplaced = isTerminal() && !isLong;
  const opening = `${styleText('cyan', '▸')} ${title} …`;
  if (isLong) say(opening);
  else if (isReplaced) process.stdout.write(fits(opening) ? opening : styleText('cyan', '▸'));
  try {
    const result = await act();
    if (isReplaced) process.stdout.write(CLEAR_LINE);
    sayEnd(title, result.note, seconds(beganMs));
    return result;
  } catch (error) {
    if (isReplaced) process.stdout.write(CLEAR_LINE);
    say(`${styleText('red', '✖')} ${title}`);
    throw error;
  }
}

/** Prints one line if it fits; otherwise the note and the time go below. */
function sayEnd(title: string, note: string | undefined, took: string): void {
  const head = `${styleText('green', '✔')} ${title}`;
  const time = styleText('dim', took);
  const parts = note === undefined ? [time] : [styleText('dim', '·'), note, time];
  const line = [head, ...parts].join(' ');
  if (fits(line)) {
    say(line);
    return;
  }
  say(head);
  say(`  ${note === undefined ? time : `${note} ${time}`}`);
}

/** Where a line can be replaced. */
function isTerminal(): boolean {
  return process.stdout.isTTY && process.env.TERM !== 'dumb';
}

function columns(): number {
  return process.stdout.isTTY ? process.stdout.columns || COLUMNS_DEFAULT : Infinity;
}

function fits(line: string): boolean {
  // A line of the full width moves the cursor down in some terminals.
  return widthOf(line) < columns();
}

function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

/**
 * Breaks a line at spaces. The rest is aligned with the last column of the first half, as in a
 * table, or follows the bar that marks a tool's output. A word that is wider than the terminal
 * stays whole, because it may be an address that a person copies.
 */
export function wrapLine(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  const margin = marginOf(stripVTControlCharacters(line), width);
  const lines: string[] = [];
  let current = '';
  for (const piece of line.split(/(?<=\S)(?= )/)) {
    const next = current + piece;
    if (widthOf(next) <= width || stripVTControlCharacters(current).trim() === '') {
      current = next;
      continue;
    }
    lines.push(current);
    current = margin + piece.trimStart();
  }
  lines.push(current);
  return lines.join('\n');
}

function marginOf(plain: string, width: number): string {
  const [bar] = /^ *│ /.exec(plain) ?? [];
  if (bar !== undefined) return bar;
  const columnStarts = [...plain.slice(0, Math.floor(width / 2)).matchAll(/(?:^| ) +(?=\S)/g)];
  const last = columnStarts.at(-1);
  return ' '.repeat(last === undefined ? 0 : last.index + last[0].length);
}
