import type { LogLine } from '../api/log-queries.ts';
import { type AnsiLine, parseAnsiLine } from '../format/ansi.ts';
import { type AnsiStyle, plainStyle } from '../format/ansi-style.ts';
import { shownTextOf } from '../format/log.ts';

export interface StyledLine {
  line: LogLine;
  text: AnsiLine;
}

/** Colors continue from line to line, from the start of the page on. */
export function styleLines(lines: readonly LogLine[]): StyledLine[] {
  let style: AnsiStyle = plainStyle;
  return lines.map((line) => {
    const parsed = parseAnsiLine(shownTextOf(line.text), style);
    style = parsed.style;
    return { line, text: parsed.line };
  });
}
