import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type MouseEvent,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { LOG_PAGE_LINES, type LogRef } from '../api/log-queries.ts';
import { countHidden, type LineRange } from '../format/log.ts';
import { Button } from '../parts/form/button.tsx';
import { useFollowEvents } from './follow-events.ts';
import { LINE_PX, type LogMarks, LogPage } from './log-page.tsx';

/** Browsers limit the height of a page: more lines than this are shown in parts. */
const WINDOW_PAGES = 2_000;
/** How many frames a line is kept in its place while the pages around it get their heights. */
const SETTLE_FRAMES = 8;

export interface LogBoxHandle {
  /** Shows a line in the middle of the box. */
  goTo: (line: number) => void;
  focus: () => void;
}

interface LogBoxProps {
  ref: Ref<LogBoxHandle>;
  log: LogRef;
  label: string;
  totalLines: number;
  version: number;
  /** The line to show first; undefined: the end. */
  firstLine: number | undefined;
  marks: LogMarks;
  follow: boolean;
  onFollow: (follow: boolean) => void;
  onLine: (line: number, event: MouseEvent) => void;
  onFold: (line: number) => void;
  /** Called when lines are in the document. */
  onShown: () => void;
}

const pageOf = (line: number) => Math.floor((line - 1) / LOG_PAGE_LINES);

/** The lines of a log in a box. Only the pages in sight are in memory and in the document. */
export function LogBox(props: LogBoxProps) {
  const { log, label, totalLines, version, marks, onFollow } = props;
  const boxRef = useRef<HTMLDivElement>(null);
  const list = useLogPages(props, boxRef);
  const { virtualizer, totalPx, basePage, count, pages, wanted, goTo, settle } = list;
  const { onShown } = props;
  const onPageShown = useCallback(
    (lines: LineRange) => {
      settle(lines);
      onShown();
    },
    [settle, onShown],
  );
  const followEvents = useFollowEvents({
    onLeave() {
      wanted.current = undefined;
      onFollow(false);
    },
    onEnd() {
      if (basePage + count >= pages && wanted.current === undefined) onFollow(true);
    },
  });
  const items = virtualizer.getVirtualItems();
  return (
    <div
      ref={boxRef}
      role="log"
      aria-label={label}
      aria-live="off"
      // A scrollable region must be reachable by keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1, scrolling by keyboard.
      tabIndex={0}
      {...followEvents}
      className="terminal relative min-h-0 overflow-auto bg-well py-1 outline-offset-[-2px]"
    >
      {basePage > 0 && (
        <WindowButton
          range={{ first: 1, last: basePage * LOG_PAGE_LINES }}
          onShow={() => goTo(basePage * LOG_PAGE_LINES)}
        />
      )}
      <div style={{ height: totalPx }} className="relative">
        <div
          style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          className="absolute inset-x-0 top-0"
        >
          {items.map(({ key, index }) => (
            <div key={String(key)} data-index={index} ref={virtualizer.measureElement}>
              <LogPage
                log={log}
                page={basePage + index}
                totalLines={totalLines}
                version={version}
                marks={marks}
                onLine={props.onLine}
                onFold={props.onFold}
                onShown={onPageShown}
              />
            </div>
          ))}
        </div>
      </div>
      {basePage + count < pages && (
        <WindowButton
          range={{ first: (basePage + count) * LOG_PAGE_LINES + 1, last: totalLines }}
          onShow={goTo}
        />
      )}
    </div>
  );
}

/** Keeps the pages in sight in the document, and the wanted line or the end in its place. */
function useLogPages(props: LogBoxProps, boxRef: RefObject<HTMLDivElement | null>) {
  const { ref, totalLines, firstLine, marks, follow } = props;
  const pages = Math.max(1, Math.ceil(totalLines / LOG_PAGE_LINES));
  const [basePage, setBasePage] = useState(() => windowFor(firstLine ?? totalLines, pages));
  const count = Math.min(WINDOW_PAGES, pages - basePage);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => boxRef.current,
    getItemKey: (index) => basePage + index,
    estimateSize: (index) => {
      const first = (basePage + index) * LOG_PAGE_LINES + 1;
      const last = Math.min(first + LOG_PAGE_LINES - 1, totalLines);
      return (last - first + 1 - countHidden(marks.folded, { first, last })) * LINE_PX;
    },
    overscan: 1,
    // Otherwise the first pages are read too, before those that are wanted.
    initialOffset: () => {
      const line = firstLine ?? (follow ? totalLines : 1);
      return Math.max(0, line - 1 - basePage * LOG_PAGE_LINES) * LINE_PX;
    },
  });

  /** The line to keep in the middle until the pages around it have their heights. */
  const wanted = useRef<{ line: number; frames: number } | undefined>(undefined);
  const goTo = useCallback(
    (line: number) => {
      const base = windowFor(line, pages);
      const isOutside = pageOf(line) < basePage || pageOf(line) >= basePage + count;
      if (isOutside) setBasePage(base);
      wanted.current = { line, frames: SETTLE_FRAMES };
      // A page that is in the document already is not shown again, so nothing else would move to
      // it.
      if (boxRef.current?.querySelector(`[data-line="${line}"]`)) {
        keepInMiddle(boxRef, wanted);
        return;
      }
      virtualizer.scrollToIndex(pageOf(line) - (isOutside ? base : basePage), { align: 'start' });
    },
    [basePage, boxRef, count, pages, virtualizer],
  );
  useImperativeHandle(ref, () => ({ goTo, focus: () => boxRef.current?.focus() }), [goTo, boxRef]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the first line opens the log.
  useLayoutEffect(() => {
    if (firstLine !== undefined) goTo(firstLine);
  }, []);
  const settle = useCallback(
    (shown: LineRange) => {
      const { line } = wanted.current ?? {};
      if (line === undefined || line < shown.first || line > shown.last) return;
      keepInMiddle(boxRef, wanted);
    },
    [boxRef],
  );

  const totalPx = virtualizer.getTotalSize();
  useLayoutEffect(() => {
    const box = boxRef.current;
    if (box !== null && follow && totalPx > 0 && totalLines > 0) box.scrollTop = box.scrollHeight;
  }, [boxRef, follow, totalPx, totalLines]);
  // A window moves on with a growing log that is followed.
  useEffect(() => {
    if (follow && basePage + WINDOW_PAGES < pages) setBasePage(windowFor(totalLines, pages));
  }, [follow, basePage, pages, totalLines]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: folding changes heights.
  useLayoutEffect(() => virtualizer.measure(), [marks.folded]);
  return { virtualizer, totalPx, basePage, count, pages, wanted, goTo, settle };
}

/** The first page of the part of a log that has a line in its middle, or the log's end. */
function windowFor(line: number, pages: number): number {
  const middle = pageOf(Math.max(1, line)) - Math.floor(WINDOW_PAGES / 2);
  return Math.max(0, Math.min(middle, pages - WINDOW_PAGES));
}

function keepInMiddle(
  boxRef: { current: HTMLDivElement | null },
  wanted: { current: { line: number; frames: number } | undefined },
): void {
  const box = boxRef.current;
  const target = wanted.current;
  if (box === null || target === undefined) return;
  const row = box.querySelector(`[data-line="${target.line}"]`);
  if (row !== null) {
    const middle = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += middle - box.clientHeight / 3;
  }
  target.frames -= 1;
  if (target.frames <= 0) wanted.current = undefined;
  else requestAnimationFrame(() => keepInMiddle(boxRef, wanted));
}

function WindowButton({ range, onShow }: { range: LineRange; onShow: (line: number) => void }) {
  return (
    <div className="p-2 font-sans">
      <Button onClick={() => onShow(range.first)}>
        Show lines {range.first.toLocaleString('en')} to {range.last.toLocaleString('en')}
      </Button>
    </div>
  );
}
