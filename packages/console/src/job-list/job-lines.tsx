import { Link } from '@tanstack/react-router';
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { statusOfGroup } from '../format/job-filters.ts';
import { Icon } from '../parts/page/icon.tsx';
import { useFocusOf } from '../parts/page/use-focus-of.ts';
import { useTopOf } from '../parts/page/use-top-of.ts';
import { JobRow } from './job-row.tsx';
import type { JobLine, JobList } from './use-job-list.ts';
import type { Selection } from './use-selection.ts';

/** Heights until a line is measured: a heading, a row, a row of two lines on a phone. */
const HEADING_PX = 40;
const ROW_PX = 40;
const PHONE_ROW_PX = 56;
/** Below this width rows have two lines. */
const PHONE_PX = 640;
/** Lines drawn beyond the window, so that scrolling shows no gaps. */
const OVERSCAN = 12;
/** The next jobs are read when this many lines are left. */
const READ_AHEAD = 100;

interface JobLinesProps {
  list: JobList;
  slug: string;
  labels: ReadonlyMap<string, string>;
  agentNames: ReadonlyMap<string, string>;
  selection: Selection;
  currentId: string | undefined;
  onCurrent: (jobId: string) => void;
}

/** The list: only the lines in the window are drawn, however many there are. */
export function JobLines(props: JobLinesProps) {
  const { list, slug, currentId } = props;
  const { lines, readMore, onShown } = list;
  const listRef = useRef<HTMLOListElement>(null);
  const scrollMargin = useTopOf(listRef);
  const currentLine = useMemo(() => findLine(lines, currentId), [lines, currentId]);
  const rowPx = window.innerWidth < PHONE_PX ? PHONE_ROW_PX : ROW_PX;
  const virtualizer = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (at) => (lines[at]?.type === 'job' ? rowPx : HEADING_PX),
    // The same function until the lines change: another one makes the library lay out all of them.
    getItemKey: useCallback((at: number) => keyOf(lines[at]) ?? at, [lines]),
    overscan: OVERSCAN,
    scrollMargin,
    // Below the header of a phone.
    scrollPaddingStart: 64,
    scrollPaddingEnd: 96,
    // New jobs push the list down only for a person who is at its top.
    anchorTo: window.scrollY > scrollMargin ? 'end' : 'start',
    // The current row keeps the focus when it leaves the window.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return currentLine < 0 || shown.includes(currentLine)
        ? shown
        : [...shown, currentLine].sort((a, b) => a - b);
    },
  });
  const drawn = virtualizer.getVirtualItems();
  const inWindow = drawn.filter(({ index }) => index !== currentLine);
  const firstDrawn = inWindow.at(0)?.index ?? 0;
  const lastDrawn = inWindow.at(-1)?.index ?? 0;
  useEffect(() => {
    const firstId = jobIdAt(lines, firstDrawn);
    const lastId = jobIdAt(lines, lastDrawn);
    if (firstId !== undefined && lastId !== undefined) onShown({ firstId, lastId });
  }, [lines, firstDrawn, lastDrawn, onShown]);
  const isNearEnd = lastDrawn >= lines.length - READ_AHEAD;
  useEffect(() => {
    if (isNearEnd && readMore !== null && !list.isReadingMore) readMore();
  }, [isNearEnd, readMore, list.isReadingMore]);
  const selector = currentId === undefined ? undefined : `[data-job="${currentId}"]`;
  useFocusOf(listRef, selector, () => virtualizer.scrollToIndex(currentLine));
  return (
    <ol
      ref={listRef}
      aria-label="Jobs"
      aria-busy={list.isReadingMore}
      className="relative overflow-hidden rounded-lg border bg-surface"
      style={{ height: `${virtualizer.getTotalSize()}px` }}
    >
      {drawn.map(({ index, key, start }) => {
        const line = lines[index];
        if (line === undefined) return null;
        return (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            aria-setsize={lines.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start - scrollMargin}px)` }}
          >
            <Line {...props} line={line} slug={slug} onToggle={list.setGroup} />
          </li>
        );
      })}
    </ol>
  );
}

function findLine(lines: readonly JobLine[], jobId: string | undefined): number {
  if (jobId === undefined) return -1;
  return lines.findIndex((line) => line.type === 'job' && line.job.jobId === jobId);
}

function jobIdAt(lines: readonly JobLine[], at: number): string | undefined {
  const line = lines[at];
  return line?.type === 'job' ? line.job.jobId : undefined;
}

function keyOf(line: JobLine | undefined): string | undefined {
  if (line === undefined) return undefined;
  return line.type === 'job' ? line.job.jobId : `${line.type} ${line.group.name}`;
}

const moreClasses =
  'inline-flex h-8 items-center text-sm text-accent underline-offset-2 hover:underline pointer-coarse:h-11';

function Line({
  line,
  slug,
  labels,
  agentNames,
  selection,
  currentId,
  onCurrent,
  onToggle,
}: JobLinesProps & { line: JobLine; onToggle: JobList['setGroup'] }) {
  if (line.type === 'group') {
    const { group, count, isCollapsed } = line;
    return (
      <h2 className="border-b bg-canvas text-sm font-semibold">
        <button
          type="button"
          aria-expanded={!isCollapsed}
          onClick={() => onToggle(group.name, isCollapsed ? undefined : 'collapsed')}
          className="flex h-10 w-full items-center gap-2 px-3 -outline-offset-2 hover:bg-hover sm:px-4"
        >
          <Icon
            name={isCollapsed ? 'chevron-right' : 'chevron-down'}
            className="size-4 text-muted"
          />
          {group.word}
          <span className="text-xs font-normal text-muted tabular-nums">{count}</span>
        </button>
      </h2>
    );
  }
  if (line.type === 'more') {
    const { group, count, isOpened } = line;
    return (
      <div className="flex h-10 items-center border-b bg-surface px-3 sm:px-4">
        {isOpened ? (
          <Link
            from="/w/$slug/jobs"
            search={(now) => ({ ...now, status: statusOfGroup(group) })}
            className={moreClasses}
          >
            All of “{group.word}”
          </Link>
        ) : (
          <button
            type="button"
            onClick={() => onToggle(group.name, 'opened')}
            className={moreClasses}
          >
            {count} more<span className="sr-only"> of “{group.word}”</span>
          </button>
        )}
      </div>
    );
  }
  const { job } = line;
  return (
    <JobRow
      job={job}
      slug={slug}
      repositoryLabel={labels.get(job.repoId)}
      agentName={job.agentId ? agentNames.get(job.agentId) : undefined}
      isCurrent={job.jobId === currentId}
      isSelected={selection.ids.has(job.jobId)}
      isSelecting={selection.isSelecting}
      onSelect={selection.toggle}
      onFocus={onCurrent}
    />
  );
}
