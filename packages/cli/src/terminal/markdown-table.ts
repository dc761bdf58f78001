import { padText, textWidth, wrapLine } from './text.ts';

const GAP = '  ';
/** Narrower columns read worse than the table as it was written. */
const COLUMN_WIDTH_MIN = 5;

const fence = /^\s*(?:```|~~~)/;
const delimiter = /^:?-+:?$/;

/** Aligns the tables among the lines of a Markdown text within a width; other lines stay. */
export function alignTables(lines: readonly string[], width: number): string[] {
  const aligned: string[] = [];
  let isCode = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (fence.test(line)) isCode = !isCode;
    const end = isCode ? at : endOfTable(lines, at);
    const table = end === at ? null : alignTable(lines.slice(at, end), width);
    if (table === null) {
      aligned.push(line);
    } else {
      aligned.push(...table);
      at = end - 1;
    }
  }
  return aligned;
}

/** The end of the table that begins at a line: the line itself if none does. */
function endOfTable(lines: readonly string[], at: number): number {
  const [head = '', marks = ''] = [lines[at], lines[at + 1]];
  if (!head.includes('|') || !marks.includes('|')) return at;
  const columns = cellsOf(marks);
  if (!columns.every((cell) => delimiter.test(cell))) return at;
  if (cellsOf(head).length !== columns.length) return at;
  let end = at + 2;
  while (lines[end]?.includes('|')) end++;
  return end;
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Null: the columns do not fit. */
function alignTable([head = '', marks = '', ...others]: string[], width: number): string[] | null {
  const columns = cellsOf(marks);
  const last = columns.length - 1;
  const rows = [head, ...others].map((line) => {
    const cells = cellsOf(line);
    // Nothing of a row that is too long is lost.
    return columns.map((_, at) => (at === last ? cells.slice(at).join(' | ') : (cells[at] ?? '')));
  });
  const natural = columns.map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ''))));
  const widths = fitColumns(natural, width - GAP.length * last);
  if (widths === null) return null;
  const [first = [], ...body] = rows.map((row) => linesOf(row, widths, columns));
  return [...first, widths.map((each) => '─'.repeat(each)).join(GAP), ...body.flat()];
}

/** Takes from the widest columns until all fit; null: they would become too narrow. */
function fitColumns(natural: readonly number[], available: number): number[] | null {
  const least = natural.reduce(
    (sum, each) => sum + Math.min(Math.max(each, 1), COLUMN_WIDTH_MIN),
    0,
  );
  if (least > available) return null;
  const widths = natural.map((each) => Math.min(Math.max(each, 1), available));
  let excess = widths.reduce((sum, each) => sum + each, 0) - available;
  for (; excess > 0; excess--) {
    const widest = Math.max(...widths);
    if (widest <= COLUMN_WIDTH_MIN) return null;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** The lines of a row, whose cells are wrapped. */
function linesOf(
  row: readonly string[],
  widths: readonly number[],
  columns: readonly string[],
): string[] {
  const cells = row.map((cell, at) => wrapLine(cell, widths[at] ?? 0));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((parts, at) => {
        const part = (parts[line] ?? '').trim();
        const isRight = /^-+:$/.test(columns[at] ?? '');
        const cellWidth = widths[at] ?? 0;
        return isRight
          ? `${' '.repeat(Math.max(0, cellWidth - textWidth(part)))}${part}`
          : padText(part, cellWidth);
      })
      .join(GAP)
      .trimEnd(),
  );
}
