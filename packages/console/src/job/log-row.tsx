import type { ToolCall } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { type MouseEvent, memo } from 'react';
import type { LogLine } from '../api/log-queries.ts';
import { classNames } from '../class-names.ts';
import type { AnsiLine } from '../format/ansi.ts';
import type { LogGroup } from '../format/log.ts';
import { formatAbsolute, formatClock } from '../format/time.ts';
import { Icon } from '../parts/page/icon.tsx';
import { AnsiText } from '../parts/text/ansi-line.tsx';
import { CallText } from './call-text.tsx';

export type RowLook = 'plain' | 'marked' | 'found' | 'match';

const rowLooks: Readonly<Record<RowLook, string>> = {
  plain: 'hover:bg-hover',
  marked: 'bg-accent-soft shadow-[inset_3px_0_0_var(--color-accent)]',
  found: 'bg-warning-soft/60',
  match: 'bg-warning-soft shadow-[inset_3px_0_0_var(--color-warning)]',
};

export interface LogRowProps {
  line: LogLine;
  text: AnsiLine;
  hasTime: boolean;
  look: RowLook;
  words: string;
  group: LogGroup | undefined;
  call: ToolCall | undefined;
  startedAt: string | undefined;
  isEnded: boolean;
  isFolded?: boolean;
  /** The number is a tab stop. A page of the whole log has two hundred of them. */
  isStop?: boolean;
  onLine: (line: number, event: MouseEvent) => void;
  onFold?: (line: number) => void;
}

/** A line of a log, or a tool call in its line. */
export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { line, text, hasTime, look, words, group, call, isFolded = false, onLine } = props;
  const number = line.line;
  return (
    <div
      data-line={number}
      aria-current={look === 'match' || look === 'marked' ? 'location' : undefined}
      className={classNames('log-row', rowLooks[look])}
    >
      <Link
        to="."
        search={(now: Record<string, unknown>) => ({ ...now, only: undefined })}
        hash={`L${number}`}
        tabIndex={props.isStop ? 0 : -1}
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
              onClick={() => props.onFold?.(number)}
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
