import type { LogLine } from '../api/log-queries.ts';
import { type AnsiLine, parseAnsiLine } from '../format/ansi.ts';
import { type AnsiStyle, plainStyle } from '../format/ansi-style.ts';
import { shownTextOf } from '../format/log.ts';

export interface StyledLine {
  line: LogLine;
  text: AnsiLine;
}

/** The lines of a page, without the marks of groups. */
export function styleLines(lines: readonly LogLine[]): StyledLine[] {
  const styled = styleTexts(lines.map(({ text }) => shownTextOf(text)));
  return lines.map((line, at) => ({ line, text: styled[at] ?? [] }));
}

/** Colors continue from line to line, from the first one on. */
export function styleTexts(texts: readonly string[]): AnsiLine[] {
  let style: AnsiStyle = plainStyle;
  return texts.map((text) => {
    const parsed = parseAnsiLine(text, style);
    style = parsed.style;
    return parsed.line;
  });
}
