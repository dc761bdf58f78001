import { useQuery } from '@tanstack/react-query';
import { type MouseEvent, useLayoutEffect, useMemo } from 'react';
import { LOG_PAGE_LINES, type LogRef, logPageQuery } from '../api/log-queries.ts';
import type { ShownCall } from '../format/activity.ts';
import { countHidden, isHidden, type LineRange, type LogGroup } from '../format/log.ts';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { LogRow, type RowLook } from './log-row.tsx';
import { styleLines } from './styled-lines.ts';

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
        <ReadFailure read={read} />
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

function lookOf(line: number, { range, matches, match }: LogMarks): RowLook {
  if (line === match) return 'match';
  if (range !== undefined && line >= range.first && line <= range.last) return 'marked';
  return matches.has(line) ? 'found' : 'plain';
}
