import type { Io } from './io.ts';
import { padText, textWidth, truncateText, wrapLine } from './text.ts';

export interface Column<Row> {
  title: string;
  /** Plain text. Colour is added after the width is computed. */
  text: (row: Row) => string;
  style?: (text: string, row: Row) => string;
  /** Takes the remaining width of the line and is truncated to it. At most one column. */
  isFlexible?: true;
  /** Left out on a terminal too narrow for all columns; the last of these goes first. */
  isOptional?: true;
}

const GAP = '  ';
const FLEXIBLE_WIDTH_MIN = 16;
/** So much of a title says which job or question it is; other columns make room for it. */
const FLEXIBLE_WIDTH_GOOD = 32;
/** A cell of a row that has nothing there. */
const EMPTY = '–';

/** Prints rows in aligned columns with titles, within the width of the terminal. */
export function printTable<Row>(
  io: Io,
  allColumns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const columns = fittingColumns(io, allColumns, rows);
  const cells = rows.map((row) => columns.map((column) => column.text(row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(textWidth(title), ...cells.map((line) => textWidth(line[index] ?? ''))),
  );
  const flexible = columns.findIndex(({ isFlexible }) => isFlexible);
  if (flexible !== -1) {
    const others = widths.reduce((sum, width, index) => sum + (index === flexible ? 0 : width), 0);
    const left = io.columns - others - GAP.length * (columns.length - 1);
    widths[flexible] = Math.min(widths[flexible] ?? 0, Math.max(FLEXIBLE_WIDTH_MIN, left));
  }
  const fit = (text: string, index: number) => {
    const width = widths[index] ?? 0;
    // Do not pad the last column: trailing spaces wrap on a narrow terminal.
    return index === columns.length - 1
      ? truncateText(text, width)
      : padText(truncateText(text, width), width);
  };
  io.print(io.styles.dim(columns.map(({ title }, index) => fit(title, index)).join(GAP)));
  for (const [at, row] of rows.entries()) {
    const line = columns.map(({ style }, index) => {
      const text = fit(cells[at]?.[index] ?? '', index);
      return style === undefined ? text : style(text, row);
    });
    io.print(line.join(GAP).trimEnd());
  }
}

/**
 * Drops columns until the others fit with a readable flexible column: first those in which no row
 * has anything, then optional ones, from the last.
 */
function fittingColumns<Row>(
  io: Io,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly Column<Row>[] {
  const needed = columns.reduce(
    (sum, { title, text, isFlexible }) => {
      const widest = Math.max(textWidth(title), ...rows.map((row) => textWidth(text(row))));
      return sum + (isFlexible ? Math.min(widest, FLEXIBLE_WIDTH_GOOD) : widest);
    },
    GAP.length * (columns.length - 1),
  );
  if (needed <= io.columns) return columns;
  const empty = columns.findLastIndex(({ text }) => rows.every((row) => text(row) === EMPTY));
  const optional = columns.findLastIndex(({ isOptional }) => isOptional);
  const dropped = empty === -1 ? optional : empty;
  return dropped === -1 ? columns : fittingColumns(io, columns.toSpliced(dropped, 1), rows);
}

/**
 * Prints a text after its lead, at words within the width of the terminal. One with a word that is
 * longer than that, such as an address, stays whole, so that it can be copied.
 */
export function printHanging(io: Io, lead: string, text: string, leadWidth: number): void {
  const width = io.columns - leadWidth;
  const isWhole = text.split(' ').some((word) => textWidth(word) > width);
  const [first = '', ...others] = isWhole ? [text] : wrapLine(text, width);
  io.print(`${lead}${first}`.trimEnd());
  for (const other of others) io.print(`${' '.repeat(leadWidth)}${other.trim()}`);
}

/** Prints names and values in two columns; fields without a value are skipped. */
export function printFields(
  io: Io,
  fields: readonly (readonly [name: string, value: string | null | undefined])[],
): void {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  for (const [name, value] of shown) {
    const lead = `${io.styles.dim(name.padEnd(width))}${GAP}`;
    printHanging(io, lead, value ?? '', width + GAP.length);
  }
}
