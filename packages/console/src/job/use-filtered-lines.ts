import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type FoundLines, type LogRef, type LogSize, logSearchQuery } from '../api/log-queries.ts';
import type { ActivityView } from '../format/activity.ts';
import {
  callLines,
  type FilteredLine,
  type LogFilter,
  problemLines,
  problemTexts,
  withFound,
} from '../format/log-filter.ts';
import type { LogSearch } from './use-log-search.ts';

export interface FilteredLines {
  /** In the order of the log. */
  lines: readonly FilteredLine[];
  /** Their number without the search. */
  total: number;
  isBusy: boolean;
  error: unknown;
  /** Whether the log has more of them. */
  isCut: boolean;
}

/** Reads the lines that a filter leaves of a log, narrowed by the search. */
export function useFilteredLines(
  log: LogRef,
  size: LogSize,
  filter: LogFilter | undefined,
  { activity, search }: { activity: ActivityView; search: LogSearch },
): FilteredLines {
  const queries = problemTexts.map((text) => ({
    ...logSearchQuery(log, text, size),
    enabled: filter === 'problems',
  }));
  const { found, ...state } = useQueries({ queries, combine: combineSearches });
  const all = useMemo(() => {
    if (filter === 'calls') return callLines(activity);
    if (filter === 'messages') return activity.messages;
    return filter === 'problems' ? problemLines(activity, found) : [];
  }, [filter, activity, found]);
  const lines = useMemo(
    () => (search.text === '' ? all : withFound(all, search.lines)),
    [all, search.text, search.lines],
  );
  return { lines, total: all.length, ...state };
}

function combineSearches(results: readonly UseQueryResult<FoundLines>[]) {
  return {
    found: results.flatMap(({ data }) => data?.matches ?? []),
    isBusy: results.some(({ isFetching }) => isFetching),
    error: results.find(({ error }) => error !== null)?.error ?? undefined,
    isCut: results.some(({ data }) => data?.isCut ?? false),
  };
}
