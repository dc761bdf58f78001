import type { Job } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { activityQuery } from '../api/activity-queries.ts';
import {
  type LogRef,
  type LogSize,
  logGroupsQuery,
  logHeadQuery,
  logTailQuery,
} from '../api/log-queries.ts';
import { type ActivityView, viewActivity } from '../format/activity.ts';
import {
  findFailureLine,
  formatLineRange,
  groupsOf,
  type LogGroup,
  parseLineRange,
} from '../format/log.ts';
import { emptyTextOf, type LogFilter, logFilterWords } from '../format/log-filter.ts';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { FilteredLog } from './filtered-log.tsx';
import { LogBox, type LogBoxHandle } from './log-box.tsx';
import { LogToolbar } from './log-toolbar.tsx';
import { PlanBar } from './plan-bar.tsx';
import { useFilteredLines } from './use-filtered-lines.ts';
import { useLogKeys } from './use-log-keys.ts';
import { useLogSearch } from './use-log-search.ts';

interface LogTabProps {
  job: Job;
  /** The attempt in the URL; undefined: the latest one. */
  attempt: number | undefined;
  /** The filter in the URL; undefined: everything. */
  only: LogFilter | undefined;
}

/** The log of an attempt, as high and wide as the window allows. */
export function LogTab({ job, attempt = job.attempt, only }: LogTabProps) {
  const log = { workspaceId: job.workspaceId, jobId: job.jobId, attempt };
  if (attempt === 0) return <NoOutput text="The log begins when an agent starts the job." />;
  // A new attempt is a new log: it opens from its start.
  return <AttemptLog key={`${job.jobId}-${attempt}`} job={job} log={log} only={only} />;
}

function AttemptLog({ job, log, only }: Omit<LogTabProps, 'attempt'> & { log: LogRef }) {
  const isLive = job.status === 'running' && log.attempt === job.attempt;
  const head = useQuery(logHeadQuery(log, isLive));
  useLastRead(log, isLive);
  const hasFailed = job.status === 'failed' && log.attempt === job.attempt;
  const hash = useLocation({ select: (location) => location.hash });
  const opensAtFailure = hasFailed && parseLineRange(hash) === undefined;
  const tail = useQuery({ ...logTailQuery(log), enabled: opensAtFailure });
  if (head.isError && head.data === undefined) return <ReadFailure read={head} />;
  if (head.data === undefined || (opensAtFailure && tail.isPending)) {
    return <SkeletonRows what="the log" rows={14} height="dense" />;
  }
  if (head.data.totalLines === 0) {
    return <NoOutput text={isLive ? 'No output yet.' : 'This attempt printed nothing.'} />;
  }
  const failureLine = opensAtFailure
    ? findFailureLine(tail.data?.lines ?? [], job.message)
    : undefined;
  return <LogView {...{ log, isLive, failureLine, only }} head={head.data} />;
}

/** The last output arrives together with the end of the attempt, when the refresh has stopped. */
function useLastRead(log: LogRef, isLive: boolean): void {
  const client = useQueryClient();
  const { queryKey } = logHeadQuery(log, isLive);
  const keyText = JSON.stringify(queryKey);
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (wasLive.current && !isLive) {
      void client.invalidateQueries({ queryKey: JSON.parse(keyText) as string[] });
    }
    wasLive.current = isLive;
  }, [client, keyText, isLive]);
}

interface LogViewProps {
  log: LogRef;
  head: {
    attempts: { attempt: number; lines: number }[];
    totalLines: number;
    sizeBytes: number;
  };
  isLive: boolean;
  failureLine: number | undefined;
  only: LogFilter | undefined;
}

const noGroups: LogGroup[] = [];

function LogView({ log, head, isLive, failureLine, only }: LogViewProps) {
  const boxRef = useRef<LogBoxHandle>(null);
  const searchRef = useRef<HTMLInputElement>(null);
  const { range, onLine, selectLine } = useLineRange(log.attempt, only);
  const [follow, setFollow] = useState(isLive && range === undefined);
  const [hasTimes, setTimes] = useState(false);
  const [isShown, setShown] = useState(false);
  const onShown = useCallback(() => setShown(true), []);
  const groups = useGroups(log, head, isShown && only === undefined);
  const { folded, onFold, foldAll } = useFolding(groups);
  const activity = useActivity(log, isLive);
  const { calls, plan } = activity;
  const goTo = (line: number) => {
    setFollow(false);
    selectLine(line);
    boxRef.current?.goTo(line);
  };
  const search = useLogSearch(log, head, goTo);
  const filtered = useFilteredLines(log, head, only, { activity, search });
  const onOnly = useOnly();
  useLogKeys({
    search,
    isLive,
    only,
    onOnly,
    toSearch: () => searchRef.current?.focus(),
    onTimes: () => setTimes(!hasTimes),
    onFollow: () => setFollow(!follow),
  });
  const marks = useMemo(
    () => ({
      range,
      folded,
      hasTimes,
      calls,
      isEnded: !isLive,
      matches: search.found,
      match: search.current,
      words: search.text,
      groups: new Map(groups.map((group) => [group.first, group])),
    }),
    [range, folded, hasTimes, calls, isLive, search.found, search.current, search.text, groups],
  );
  const size = { totalLines: head.totalLines, version: head.sizeBytes };
  const following = { follow: isLive && follow, onFollow: setFollow };
  return (
    <section className="log-frame grid min-w-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)] overflow-hidden rounded-lg border">
      <div className="min-w-0">
        <LogToolbar
          {...{ log, head, search, searchRef, hasTimes, failureLine, only, onOnly, filtered }}
          choices={{
            calls: calls.size,
            messages: activity.messages.length,
            ...(only === 'problems' && !filtered.isBusy && { problems: filtered.total }),
          }}
          onLeaveSearch={() => boxRef.current?.focus()}
          onTimes={setTimes}
          follow={isLive ? follow : undefined}
          onFollow={setFollow}
          groups={groups.length}
          folded={folded.length}
          onFoldAll={foldAll}
          onGoTo={goTo}
        />
        {plan !== undefined && plan.entries.length > 0 && <PlanBar plan={plan} />}
      </div>
      {only === undefined ? (
        <LogBox
          ref={boxRef}
          label={`Output of attempt ${log.attempt}`}
          firstLine={range?.first ?? failureLine ?? (isLive ? undefined : head.totalLines)}
          {...{ log, marks, onLine, onFold, onShown, ...size, ...following }}
        />
      ) : (
        <FilteredLog
          // Another filter begins at its own start.
          key={only}
          label={`${logFilterWords[only]} of attempt ${log.attempt}`}
          emptyText={emptyTextOf(only, filtered, search.text)}
          {...{ log, marks, filtered, onLine, ...size, ...following }}
        />
      )}
    </section>
  );
}

/** The marked lines are in the URL, together with the attempt that they are of. */
function useLineRange(attempt: number, only: LogFilter | undefined) {
  const navigate = useNavigate();
  const hash = useLocation({ select: (location) => location.hash });
  const range = useMemo(() => parseLineRange(hash), [hash]);
  const select = (next: { first: number; last: number }) =>
    void navigate({
      to: '.',
      search: (now: Record<string, unknown>) => ({ ...now, attempt, only: undefined }),
      hash: formatLineRange(next),
      // Going back from a filtered line leads to the filter.
      replace: only === undefined,
      resetScroll: false,
      hashScrollIntoView: false,
    });
  const onLine = (line: number, event: MouseEvent) => {
    // Other presses open the link in a new tab or window.
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const start = event.shiftKey && range !== undefined ? range.first : line;
    select({ first: Math.min(start, line), last: Math.max(start, line) });
  };
  return { range, onLine, selectLine: (line: number) => select({ first: line, last: line }) };
}

/** The filter is in the URL. */
function useOnly() {
  const navigate = useNavigate();
  return (only: LogFilter | undefined) =>
    void navigate({
      to: '.',
      search: (now: Record<string, unknown>) => ({ ...now, only }),
      resetScroll: false,
    });
}

/** Reads what the tool did, and the state of it now. */
function useActivity(log: LogRef, isLive: boolean): ActivityView {
  const { data } = useQuery(activityQuery(log, isLive));
  return useMemo(() => viewActivity(data ?? []), [data]);
}

/** The hub reads the whole log for its groups, so the lines in sight come first. */
function useGroups(log: LogRef, size: LogSize, isShown: boolean): readonly LogGroup[] {
  const { data } = useQuery({ ...logGroupsQuery(log, size), enabled: isShown });
  return useMemo(() => (data === undefined ? noGroups : groupsOf(data.matches)), [data]);
}

function useFolding(groups: readonly LogGroup[]) {
  const [foldedLines, setFoldedLines] = useState<ReadonlySet<number>>(new Set());
  const folded = useMemo(
    () => groups.filter(({ first }) => foldedLines.has(first)),
    [groups, foldedLines],
  );
  const onFold = (line: number) => {
    const next = new Set(foldedLines);
    if (!next.delete(line)) next.add(line);
    setFoldedLines(next);
  };
  const foldAll = (isFolded: boolean) =>
    setFoldedLines(new Set(isFolded ? groups.map(({ first }) => first) : []));
  return { folded, onFold, foldAll };
}

function NoOutput({ text }: { text: string }) {
  return <p className="rounded-lg border bg-surface p-6 text-center text-sm text-muted">{text}</p>;
}
