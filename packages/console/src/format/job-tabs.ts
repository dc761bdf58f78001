import { type LogFilter, logFilters } from './log-filter.ts';

/** The tabs of a job's page; the first one has no parameter in the URL. */
export const jobTabs = ['overview', 'log', 'changes', 'timeline', 'raw'] as const;
export type JobTab = (typeof jobTabs)[number];

export interface JobSearch {
  tab?: JobTab | undefined;
  /** Of the log; absent: the latest one. */
  attempt?: number | undefined;
  /** The filter of the log; absent: everything. */
  only?: LogFilter | undefined;
  /** Of the changes; absent: those of the whole work. */
  since?: 'round' | undefined;
}

/** Reads the search parameters of a job's page; unknown values are dropped. */
export function readJobSearch(search: Record<string, unknown>): JobSearch {
  const tab = jobTabs.find((each) => each === search.tab);
  const attempt = Number(search.attempt);
  const only = logFilters.find((each) => each === search.only);
  return {
    ...(tab && tab !== 'overview' && { tab }),
    ...(Number.isInteger(attempt) && attempt >= 1 && attempt <= 1_000_000 && { attempt }),
    ...(only && { only }),
    ...(search.since === 'round' && { since: 'round' as const }),
  };
}
