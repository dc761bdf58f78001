import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type PointerEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { plainText } from '../format/text.ts';
import { useFocusOf } from '../parts/page/use-focus-of.ts';
import { useTopOf } from '../parts/page/use-top-of.ts';
import { CommentComposer } from './comment-composer.tsx';
import { CommentThread } from './comment-thread.tsx';
import { FileRow } from './file-row.tsx';
import { FindingRow } from './finding-row.tsx';
import { LineRow, stepOf } from './line-row.tsx';
import type { ReviewFile } from './review-files.ts';
import type { ReviewRow } from './review-rows.ts';
import { type LineRange, linesOf } from './review-threads.ts';
import { useColors } from './use-colors.ts';
import type { Review } from './use-review.ts';
import { useReviewKeys } from './use-review-keys.ts';

const rowPx: Readonly<Record<ReviewRow['type'], number>> = {
  file: 42,
  note: 36,
  hunk: 24,
  lines: 20,
  finding: 32,
  thread: 150,
  composer: 200,
};
const OVERSCAN = 10;

interface ReviewListProps {
  review: Review;
  files: readonly ReviewFile[];
  rows: readonly ReviewRow[];
  isSplit: boolean;
  viewed: ReadonlySet<string>;
  /** The key of the row with the tab stop. */
  currentKey: string | undefined;
  onCurrent: (key: string) => void;
  onOpen: (file: ReviewFile, isOpen: boolean) => void;
  onViewed: (file: ReviewFile, isViewed: boolean) => void;
}

/** The rows of a review: only those in the window are drawn, however many there are. */
export function ReviewList(props: ReviewListProps) {
  const { review, rows, currentKey, onCurrent } = props;
  const listRef = useRef<HTMLDivElement>(null);
  const scrollMargin = useTopOf(listRef);
  const current = currentKey === undefined ? -1 : rows.findIndex(({ key }) => key === currentKey);
  const kept = [current, rows.findIndex((row) => isWrittenIn(row, review))].filter((at) => at >= 0);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (at) => rowPx[rows[at]?.type ?? 'lines'],
    getItemKey: useCallback((at: number) => rows[at]?.key ?? at, [rows]),
    overscan: OVERSCAN,
    scrollMargin,
    // Below the bar of the review, and on phones above that of the shell.
    scrollPaddingStart: 120,
    scrollPaddingEnd: 96,
    // The row with the focus, and the one in which a person writes, stay in the document.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), ...kept])].sort((a, b) => a - b),
  });
  const drawn = virtualizer.getVirtualItems();
  const { colors, want } = useColors();
  useEffect(() => {
    for (const { index } of drawn) {
      const row = rows[index];
      if (row?.type === 'lines') want(row.file);
    }
  }, [drawn, rows, want]);
  useFocusOf(listRef, selectorOf(currentKey), () => virtualizer.scrollToIndex(current));
  const selection = useSelection(review);
  const step = (by: 1 | -1, isLonger: boolean) => {
    const next = nextLine(rows, current, by);
    if (next === undefined) return;
    if (isLonger) selection.extend(rows[current], next);
    else selection.clear();
    onCurrent(next.key);
  };
  useReviewKeys({
    rows,
    current,
    onCurrent,
    onComment: () => {
      const range = selection.range ?? rangeOf(rows[current]);
      if (range && review.takesComments(range.side)) selection.pick(range, false);
    },
    onViewed: (file) => props.onViewed(file, !props.viewed.has(file.id)),
  });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys move between its buttons.
    <div
      ref={listRef}
      onKeyDown={(event) => {
        const by = stepOf(event);
        const isOnLine = event.target instanceof Element && event.target.hasAttribute('data-key');
        if (by === undefined || !isOnLine) return;
        event.preventDefault();
        step(by, event.shiftKey);
      }}
      className="review-list relative min-w-0 overflow-hidden rounded-lg border bg-surface"
      style={{ height: `${virtualizer.getTotalSize()}px` }}
    >
      {drawn.map(({ index, key, start }) => {
        const row = rows[index];
        return (
          row && (
            <div
              key={String(key)}
              ref={virtualizer.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start - scrollMargin}px)` }}
            >
              <Row
                {...props}
                row={row}
                isCurrent={index === current}
                selection={selection}
                colors={colors}
              />
            </div>
          )
        );
      })}
    </div>
  );
}

function selectorOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : `[data-key="${CSS.escape(key)}"]`;
}

function isWrittenIn(row: ReviewRow, { writing }: Review): boolean {
  if (writing === undefined) return false;
  if (row.type === 'composer') return writing.range !== undefined;
  if (row.type !== 'thread') return false;
  const { first, replies } = row.thread;
  const ids = [first, ...replies].map(({ commentId }) => commentId);
  return writing.repliesTo === first.commentId || ids.includes(writing.commentId ?? '');
}

/** The next row with lines in a direction. */
function nextLine(rows: readonly ReviewRow[], from: number, by: 1 | -1): ReviewRow | undefined {
  for (let at = from + by; at >= 0 && at < rows.length; at += by) {
    const row = rows[at];
    if (row?.type === 'lines' || row?.type === 'file') return row;
  }
  return undefined;
}

interface RowProps extends ReviewListProps {
  row: ReviewRow;
  isCurrent: boolean;
  selection: Selection;
  colors: ReturnType<typeof useColors>['colors'];
}

function Row(props: RowProps) {
  const { row, review, files, isCurrent, selection, colors } = props;
  switch (row.type) {
    case 'file':
      return (
        <FileRow
          file={row.file}
          rowKey={row.key}
          isOpen={row.isOpen}
          isViewed={props.viewed.has(row.file.id)}
          isCurrent={isCurrent}
          threadCount={row.threadCount}
          onOpen={(isOpen) => props.onOpen(row.file, isOpen)}
          onViewed={(isViewed) => props.onViewed(row.file, isViewed)}
        />
      );
    case 'note':
      return <p className="px-3 py-2 font-sans text-xs text-muted">{row.text}</p>;
    case 'hunk':
      return <p className="review-title">{plainText(row.title)}</p>;
    case 'finding':
      return <FindingRow note={row.note} review={review} files={files} />;
    case 'thread':
      return <CommentThread thread={row.thread} review={review} isElsewhere={row.isElsewhere} />;
    case 'composer':
      return <RangeComposer review={review} files={files} />;
    case 'lines':
      return (
        <LineRow
          row={row}
          isSplit={props.isSplit}
          isCurrent={isCurrent}
          selected={selection.range ?? review.writing?.range}
          mayWriteBase={review.takesComments('base')}
          mayWriteResult={review.takesComments('result')}
          leftColors={row.left && colors(row.left)}
          rightColors={row.right && colors(row.right)}
          onPick={selection.pick}
          onDragStart={selection.startDrag}
          onDragOver={selection.dragOver}
        />
      );
  }
}

/** The composer of a new comment, with buttons that make its range longer and shorter. */
function RangeComposer({ review, files }: Pick<ReviewListProps, 'review' | 'files'>) {
  const { writing } = review;
  if (writing?.range === undefined) return null;
  const { range } = writing;
  const longer = { ...range, endLine: range.endLine + 1 };
  return (
    <CommentComposer
      review={review}
      writing={writing}
      lines={linesOf(files, range)}
      longer={linesOf(files, longer) === null ? undefined : longer}
      shorter={
        range.endLine === range.startLine ? undefined : { ...range, endLine: range.endLine - 1 }
      }
    />
  );
}

type Selection = ReturnType<typeof useSelection>;

/** The lines that a person chooses by dragging over numbers, or by Shift and a key or a press. */
function useSelection(review: Review) {
  const [range, setRange] = useState<LineRange>();
  const dragged = useRef<LineRange>(undefined);
  /** Where a choice by keys began. */
  const anchor = useRef<LineRange>(undefined);
  const latest = useRef({ review, range });
  useLayoutEffect(() => {
    latest.current = { review, range };
  });
  const pick = useCallback((picked: LineRange, isLonger: boolean) => {
    const { review: now, range: chosen } = latest.current;
    const before = chosen ?? now.writing?.range;
    setRange(undefined);
    now.compose(isLonger && before ? join(before, picked) : picked);
  }, []);
  const startDrag = useCallback((from: LineRange, event: PointerEvent) => {
    // A finger scrolls, and Shift makes the range longer.
    if (event.pointerType !== 'mouse' || event.button !== 0 || event.shiftKey) return;
    dragged.current = from;
    const end = () => {
      dragged.current = undefined;
      const { range: chosen, review: now } = latest.current;
      if (chosen === undefined) return;
      setRange(undefined);
      now.compose(chosen);
    };
    window.addEventListener('pointerup', end, { once: true });
  }, []);
  const dragOver = useCallback((to: LineRange) => {
    const from = dragged.current;
    if (
      from === undefined ||
      (from.startLine === to.startLine && latest.current.range === undefined)
    )
      return;
    setRange(join(from, to));
  }, []);
  const extend = (from: ReviewRow | undefined, to: ReviewRow) => {
    const start = rangeOf(from);
    const end = rangeOf(to);
    anchor.current ??= start;
    if (anchor.current && end) setRange(join(anchor.current, end));
  };
  const clear = () => {
    anchor.current = undefined;
    setRange(undefined);
  };
  return { range, pick, startDrag, dragOver, extend, clear };
}

/** Lines of one side from one range to another; of different files or sides, the other one. */
function join(one: LineRange, other: LineRange): LineRange {
  if (one.path !== other.path || one.side !== other.side) return other;
  return {
    ...one,
    startLine: Math.min(one.startLine, other.startLine),
    endLine: Math.max(one.endLine, other.endLine),
  };
}

/** The line of a row on which a comment begins. */
function rangeOf(row: ReviewRow | undefined): LineRange | undefined {
  if (row?.type !== 'lines') return undefined;
  const { file, left, right } = row;
  const side = right === undefined ? 'base' : 'result';
  const line = (right === undefined ? left?.before : right.after) ?? 0;
  const path = side === 'base' ? (file.oldPath ?? file.path) : file.path;
  return { path, side, startLine: line, endLine: line };
}
