import type { ToolCall } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type MouseEvent, memo, useLayoutEffect, useMemo } from 'react';
import { LOG_PAGE_LINES, type LogLine, type LogRef, logPageQuery } from '../api/log-queries.ts';
import { classNames } from '../class-names.ts';
import type { ShownCall } from '../format/activity.ts';
import { type AnsiLine, parseAnsiLine } from '../format/ansi.ts';
import { type AnsiStyle, plainStyle } from '../format/ansi-style.ts';
import {
  countHidden,
  groupTitleOf,
  isHidden,
  type LineRange,
  type LogGroup,
} from '../format/log.ts';
import { formatAbsolute, formatClock } from '../format/time.ts';
import { AnsiText } from '../parts/ansi-line.tsx';
import { Button } from '../parts/button.tsx';
import { ErrorNotice } from '../parts/error-notice.tsx';
import { Icon } from '../parts/icon.tsx';
import { CallText } from './call-text.tsx';

/** The height of a line that is not wrapped; the line height of `.terminal`. */
export const LINE_PX = 18;

/** The lines that a person has marked, found and folded. */
export interface LogMarks {
  range: LineRange | undefined;
  matches: ReadonlySet<number>;
  match: number | undefined;
  /** The text that was searched for; empty: none. */
  words: string;
  groups: ReadonlyMap<number, LogGroup>;
  folded: readonly LogGroup[];
  /** Tool calls, by the line in which they begin. */
  calls: ReadonlyMap<number, ShownCall>;
  /** The attempt has ended. */
  isEnded: boolean;
  hasTimes: boolean;
}

interface LogPageProps {
  log: LogRef;
  page: number;
  totalLines: number;
  /** Changes when the last page grows. */
  version: number;
  marks: LogMarks;
  onLine: (line: number, event: MouseEvent) => void;
  onFold: (line: number) => void;
  /** Called when the lines are in the document, and after each change of them. */
  onShown: (lines: LineRange) => void;
}

/** The lines of a page. Until they are read, their place is kept free. */
export function LogPage(props: LogPageProps) {
  const { log, page, totalLines, version, marks, onLine, onFold, onShown } = props;
  const first = page * LOG_PAGE_LINES + 1;
  const last = Math.min(first + LOG_PAGE_LINES - 1, totalLines);
  const isGrowing = last === totalLines;
  const read = useQuery(logPageQuery(log, page, isGrowing ? version : 0));
  const styled = useMemo(() => styleLines(read.data ?? []), [read.data]);
  useLayoutEffect(() => {
    if (styled.length > 0) onShown({ first, last });
  }, [styled, first, last, onShown]);
  if (read.isError) {
    return (
      <div className="p-2 font-sans whitespace-normal">
        <ErrorNotice
          error={read.error}
          action={<Button onClick={() => read.refetch()}>Try again</Button>}
        />
      </div>
    );
  }
  if (read.data === undefined) {
    const lines = last - first + 1 - countHidden(marks.folded, { first, last });
    return <div style={{ height: lines * LINE_PX }} />;
  }
  return styled
    .filter(({ line }) => !isHidden(marks.folded, line.line))
    .map(({ line, text }) => (
      <LogRow
        key={line.line}
        line={line}
        text={text}
        hasTime={marks.hasTimes}
        look={lookOf(line.line, marks)}
        words={marks.matches.has(line.line) ? marks.words : ''}
        group={marks.groups.get(line.line)}
        call={marks.calls.get(line.line)?.call}
        startedAt={marks.calls.get(line.line)?.startedAt}
        isEnded={marks.isEnded}
        isFolded={marks.folded.some((group) => group.first === line.line)}
        onLine={onLine}
        onFold={onFold}
      />
    ));
}

type RowLook = 'plain' | 'marked' | 'found' | 'match';

function lookOf(line: number, { range, matches, match }: LogMarks): RowLook {
  if (line === match) return 'match';
  if (range !== undefined && line >= range.first && line <= range.last) return 'marked';
  return matches.has(line) ? 'found' : 'plain';
}

interface StyledLine {
  line: LogLine;
  text: AnsiLine;
}

/** Colors continue from line to line, from the start of the page on. */
function styleLines(lines: readonly LogLine[]): StyledLine[] {
  let style: AnsiStyle = plainStyle;
  return lines.map((line) => {
    const parsed = parseAnsiLine(groupTitleOf(line.text) ?? line.text, style);
    style = parsed.style;
    return { line, text: parsed.line };
  });
}

const rowLooks: Readonly<Record<RowLook, string>> = {
  plain: 'hover:bg-hover',
  marked: 'bg-accent-soft shadow-[inset_3px_0_0_var(--color-accent)]',
  found: 'bg-warning-soft/60',
  match: 'bg-warning-soft shadow-[inset_3px_0_0_var(--color-warning)]',
};

interface LogRowProps {
  line: LogLine;
  text: AnsiLine;
  hasTime: boolean;
  look: RowLook;
  words: string;
  group: LogGroup | undefined;
  call: ToolCall | undefined;
  startedAt: string | undefined;
  isEnded: boolean;
  isFolded: boolean;
  onLine: (line: number, event: MouseEvent) => void;
  onFold: (line: number) => void;
}

const LogRow = memo(function LogRow(props: LogRowProps) {
  const { line, text, hasTime, look, words, group, call, isFolded, onLine, onFold } = props;
  const number = line.line;
  return (
    <div
      data-line={number}
      aria-current={look === 'match' || look === 'marked' ? 'location' : undefined}
      className={classNames('log-row', rowLooks[look])}
    >
      {/* Out of the tab order: a page has two hundred of them. Search marks lines by keyboard. */}
      <Link
        to="."
        search={true}
        hash={`L${number}`}
        tabIndex={-1}
        aria-label={`Line ${number}`}
        onClick={(event) => onLine(number, event)}
        className="log-number"
      >
        {number}
      </Link>
      {hasTime && (
        <time dateTime={line.at} title={formatAbsolute(line.at)} className="text-faint select-none">
          {formatClock(line.at)}
        </time>
      )}
      {call === undefined ? (
        <span
          className={classNames(
            'log-text',
            line.stream === 'agent' && 'text-faint',
            group && 'font-semibold',
          )}
        >
          {group && (
            <button
              type="button"
              aria-expanded={!isFolded}
              aria-label={`${group.last - group.first} lines of this group`}
              onClick={() => onFold(number)}
              className="mr-1 inline-flex h-[1.125rem] items-center gap-1 rounded-sm bg-hover pr-1.5 align-top font-sans text-xs font-normal text-muted hover:text-ink"
            >
              <Icon
                name="chevron-right"
                className={classNames('size-3.5', !isFolded && 'rotate-90')}
              />
              {isFolded && `${(group.last - group.first).toLocaleString('en')} lines`}
            </button>
          )}
          <AnsiText line={text} searched={words} />
          {line.cut && (
            <span className="font-sans text-xs text-warning">
              {' '}
              … cut: the download has all of it
            </span>
          )}
        </span>
      ) : (
        <CallText
          call={call}
          startedAt={props.startedAt ?? line.at}
          isEnded={props.isEnded}
          isNested={line.text.startsWith('│')}
          words={words}
        />
      )}
    </div>
  );
});
