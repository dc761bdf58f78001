import type { Io } from './io.ts';
import { alignTables } from './markdown-table.ts';
import { cleanText, oneLine, wrapLine } from './text.ts';

/** Tools write their results in Markdown. In a terminal, most of it reads well as it is. */
const headingMark = /^#{1,6}\s+(?=\S)/;
const strong = /\*\*(?=\S)([^*]{1,500}?\S)\*\*/g;
/** Lines that mean little without the lines around them: tables, fences, rules, lists. */
const part = /^\s*(?:\||```|~~~|---|\*\*\*|[-*+]\s|\d+[.)]\s)/;

/** One line of a Markdown text that says most: its first paragraph, or else its first heading. */
export function gistOf(text: string): string {
  const blocks = cleanText(text).split(/\n[^\S\n]*\n/);
  const lines = blocks.map((block) => block.trim().split('\n'));
  const paragraphs = lines.map((block) => {
    const begin = block.filter((line) => !headingMark.test(line));
    const end = begin.findIndex((line) => part.test(line));
    return begin.slice(0, end === -1 ? undefined : end);
  });
  const found = paragraphs.find((block) => block.some((line) => line.trim() !== ''));
  return oneLine(withoutMarks((found ?? lines[0] ?? []).join('\n')));
}

/** A title without the marks of a heading. */
export function withoutMarks(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(headingMark, ''));
  return lines.join('\n').replace(strong, '$1');
}

/** Whether a text is one line, which fits after its name. */
export function isPlainLine(text: string): boolean {
  const trimmed = text.trim();
  return !trimmed.includes('\n') && withoutMarks(trimmed) === trimmed;
}

/** Prints a Markdown text, indented and within the width of the terminal. */
export function printMarkdown(io: Io, text: string, margin = '  '): void {
  const { bold } = io.styles;
  const width = io.columns - margin.length;
  const lines = cleanText(text)
    .trim()
    .split('\n')
    .map((line) =>
      headingMark.test(line) ? bold(withoutMarks(line)) : line.replace(strong, bold('$1')),
    );
  for (const line of alignTables(lines, width)) {
    for (const each of wrapLine(line, width)) io.print(`${margin}${each}`.trimEnd());
  }
}
