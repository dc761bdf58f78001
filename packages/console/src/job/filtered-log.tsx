import { useQueries } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type MouseEvent, useLayoutEffect, useRef } from 'react';
import { LOG_PAGE_LINES, type LogLine, type LogRef, logPageQuery } from '../api/log-queries.ts';
import { parseAnsiLine } from '../format/ansi.ts';
import { plainStyle } from '../format/ansi-style.ts';
import type { FilteredLine } from '../format/log-filter.ts';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { useFollowEvents } from './follow-events.ts';
import { LINE_PX, type LogMarks } from './log-page.tsx';
import { LogRow } from './log-row.tsx';
import type { FilteredLines } from './use-filtered-lines.ts';

interface FilteredLogProps {
  log: LogRef;
  label: string;
  filtered: FilteredLines;
  /** Said when there is nothing to show. */
  emptyText: string;
  totalLines: number;
  /** Changes when the log grows. */
  version: number;
  marks: LogMarks;
  follow: boolean;
  onFollow: (follow: boolean) => void;
  /** Opens the whole log at a line. */
  onLine: (line: number, event: MouseEvent) => void;
}

/** Some lines of a log. Each has its number, which leads to its place in the whole log. */
export function FilteredLog(props: FilteredLogProps) {
  const { label, filtered, follow, onFollow } = props;
  const { lines } = filtered;
  const boxRef = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => boxRef.current,
    getItemKey: (index) => lines[index]?.first ?? index,
    estimateSize: () => LINE_PX + 7,
    overscan: 10,
  });
  const totalPx = virtualizer.getTotalSize();
  useLayoutEffect(() => {
    const box = boxRef.current;
    if (box !== null && follow && totalPx > 0) box.scrollTop = box.scrollHeight;
  }, [follow, totalPx]);
  const followEvents = useFollowEvents({
    onLeave: () => onFollow(false),
    onEnd: () => onFollow(true),
  });
  const items = virtualizer.getVirtualItems();
  return (
    <section
      ref={boxRef}
      aria-label={label}
      // A scrollable region must be reachable by keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1, scrolling by keyboard.
      tabIndex={0}
      {...followEvents}
      className="terminal relative min-h-0 overflow-auto bg-well py-1 outline-offset-[-2px]"
    >
      {lines.length === 0 && (
        <p role="status" className="p-6 text-center font-sans text-sm text-muted">
          {props.emptyText}
        </p>
      )}
      <div style={{ height: totalPx }} className="relative">
        <ol
          aria-label={label}
          style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          className="absolute inset-x-0 top-0"
        >
          {items.map(({ key, index }) => (
            <li
              key={String(key)}
              data-index={index}
              ref={virtualizer.measureElement}
              className="filtered-line"
            >
              <Lines {...props} part={lines[index] as FilteredLine} />
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

type PartProps = FilteredLogProps & { part: FilteredLine };

function Lines(props: PartProps) {
  const { first, shown, text } = props.part;
  if (shown === undefined && text === undefined) return <MessageLines {...props} />;
  const line = { line: first, at: shown?.startedAt ?? '', text: text ?? shown?.call.title ?? '' };
  // The lines that a search finds have no times.
  return <Row {...props} line={line} hasTime={shown !== undefined && props.marks.hasTimes} />;
}

/** Reads the pages of a message: neighbors share them. A long message is shown in part. */
function MessageLines(props: PartProps) {
  const { log, part, totalLines, version, marks } = props;
  const last = Math.min(part.last, totalLines, part.first + LOG_PAGE_LINES - 1);
  const firstPage = Math.floor((part.first - 1) / LOG_PAGE_LINES);
  const lastPage = Math.floor((last - 1) / LOG_PAGE_LINES);
  const isGrowing = (page: number) => (page + 1) * LOG_PAGE_LINES >= totalLines;
  const pages = useQueries({
    queries: [...new Set([firstPage, lastPage])].map((page) =>
      logPageQuery(log, page, isGrowing(page) ? version : 0),
    ),
  });
  const error = pages.find((page) => page.isError)?.error;
  if (error !== undefined) {
    return (
      <div className="px-2 font-sans whitespace-normal">
        <ErrorNotice error={error} />
      </div>
    );
  }
  const read = pages.flatMap(({ data }) => data ?? []);
  const lines = read.filter(({ line }) => line >= part.first && line <= last);
  const end = lines.findLastIndex(({ text }) => text.trim() !== '');
  if (end === -1) return <div style={{ height: LINE_PX }} />;
  return (
    <>
      {lines.slice(0, end + 1).map((line) => (
        <Row key={line.line} {...props} line={line} hasTime={marks.hasTimes} />
      ))}
      {Math.min(part.last, totalLines) > last && (
        <p className="pl-14 font-sans text-xs text-muted">
          … {(Math.min(part.last, totalLines) - last).toLocaleString('en')} more lines in the log
        </p>
      )}
    </>
  );
}

function Row({
  part,
  marks,
  line,
  hasTime,
  onLine,
}: PartProps & { line: LogLine; hasTime: boolean }) {
  return (
    <LogRow
      line={line}
      text={parseAnsiLine(line.text, plainStyle).line}
      hasTime={hasTime}
      look={marks.matches.has(line.line) ? 'found' : 'plain'}
      words={marks.matches.has(line.line) ? marks.words : ''}
      group={undefined}
      call={part.shown?.call}
      startedAt={part.shown?.startedAt}
      isEnded={marks.isEnded}
      isStop={line.line === part.first}
      onLine={onLine}
    />
  );
}
