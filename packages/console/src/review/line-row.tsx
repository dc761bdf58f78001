import { type KeyboardEvent, memo, type PointerEvent } from 'react';
import { classNames } from '../class-names.ts';
import type { PatchLine } from '../format/patch.ts';
import { plainText } from '../format/text.ts';
import { changedSpans, LINE_CHARS_SHOWN, piecesOf, type Span } from './line-pieces.ts';
import type { LineRow as Row } from './review-rows.ts';
import { type LineRange, pathOn } from './review-threads.ts';

interface LineHandlers {
  /** A number was pressed; `isLonger` with Shift. */
  onPick: (range: LineRange, isLonger: boolean) => void;
  onDragStart: (range: LineRange, event: PointerEvent) => void;
  onDragOver: (range: LineRange) => void;
}

interface LineRowProps extends LineHandlers {
  row: Row;
  isSplit: boolean;
  isCurrent: boolean;
  selected: LineRange | undefined;
  /** Whether comments can be written on each side. */
  mayWriteBase: boolean;
  mayWriteResult: boolean;
  leftColors: readonly Span[] | undefined;
  rightColors: readonly Span[] | undefined;
}

const noSpans: readonly Span[] = [];

/** A line of a patch, or a line of each side. Its number begins a comment. */
export const LineRow = memo(function LineRow(props: LineRowProps) {
  const { row, isSplit } = props;
  if (!isSplit) {
    const line = row.right ?? row.left;
    const colors = row.right ? props.rightColors : props.leftColors;
    return line && <Cell {...props} line={line} partner={row.partner} colors={colors} />;
  }
  const { left, right } = row;
  const isSame = left !== undefined && left === right;
  return (
    <div className="grid grid-cols-2">
      <Half {...props} side="base" line={left} partner={isSame ? undefined : right} />
      <Half {...props} side="result" line={right} partner={isSame ? undefined : left} />
    </div>
  );
});

type HalfProps = LineRowProps &
  Required<Pick<CellProps, 'side' | 'partner'>> & {
    line: PatchLine | undefined;
  };

function Half({ line, ...rest }: HalfProps) {
  if (line === undefined) return <div className="review-empty" />;
  const colors = rest.side === 'base' ? rest.leftColors : rest.rightColors;
  return <Cell {...rest} line={line} colors={colors} />;
}

const signs = { same: ' ', added: '+', deleted: '−' } as const;
/** Of a line, in the name of its button. */
const NAMED_CHARS = 200;
const signNames = { same: '', added: ', added', deleted: ', deleted' } as const;

interface CellProps extends LineRowProps {
  line: PatchLine;
  /** In the unified view, a deleted line belongs to the base and the others to the result. */
  side?: LineRange['side'];
  partner: PatchLine | undefined;
  colors: readonly Span[] | undefined;
}

function Cell(props: CellProps) {
  const { row, line, partner, colors = noSpans, isCurrent, selected, isSplit } = props;
  const { side = line.kind === 'deleted' ? 'base' : 'result' } = props;
  const mayWrite = side === 'base' ? props.mayWriteBase : props.mayWriteResult;
  const number = (side === 'base' ? line.before : line.after) ?? 0;
  const path = pathOn(row.file, side);
  const range = { path, side, startLine: number, endLine: number };
  const isSelected =
    selected?.path === path &&
    selected.side === side &&
    selected.startLine <= number &&
    number <= selected.endLine;
  const changes = partner ? changedSpans(line.text, partner.text) : noSpans;
  return (
    <div
      className={classNames(
        'review-line',
        line.kind !== 'same' && `review-${line.kind}`,
        isSelected && 'review-selected',
        isCurrent && 'review-current',
      )}
    >
      <button
        type="button"
        data-key={row.key}
        // One line is the tab stop; the arrow keys move it.
        tabIndex={isCurrent && (!isSplit || side === 'result' || row.right === undefined) ? 0 : -1}
        aria-disabled={!mayWrite || undefined}
        className="review-number"
        onClick={(event) => mayWrite && props.onPick(range, event.shiftKey)}
        onPointerDown={(event) => mayWrite && props.onDragStart(range, event)}
        onPointerEnter={() => props.onDragOver(range)}
      >
        {!isSplit && <span aria-hidden="true">{line.before}</span>}
        <span aria-hidden="true">{isSplit ? number : line.after}</span>
        <span className="sr-only">{nameOf(line, number, mayWrite)}</span>
      </button>
      <span aria-hidden="true" className="review-sign">
        {signs[line.kind]}
      </span>
      <code className="review-code">
        {piecesOf(line.text, colors, changes).map(({ text, color, isChanged }, at) => (
          <span
            // Pieces have no identity but their place.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above.
            key={at}
            className={classNames(color, isChanged && 'review-changed') || undefined}
          >
            {plainText(text)}
          </span>
        ))}
        {line.text.length > LINE_CHARS_SHOWN && (
          <span className="font-sans text-xs text-warning"> … the line is longer</span>
        )}
      </code>
    </div>
  );
}

function nameOf({ kind, text }: PatchLine, number: number, mayWrite: boolean): string {
  const place = `${mayWrite ? 'Comment on line' : 'Line'} ${number}${signNames[kind]}`;
  return `${place}: ${plainText(text.slice(0, NAMED_CHARS))}`;
}

/** The keys that move the tab stop of the list. */
export function stepOf({ key }: KeyboardEvent): 1 | -1 | undefined {
  if (key === 'ArrowDown') return 1;
  return key === 'ArrowUp' ? -1 : undefined;
}
