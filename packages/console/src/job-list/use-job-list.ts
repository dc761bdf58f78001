import type { JobCounts, JobStatus, ListedJob } from '@signalbox/contract';
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { jobCountsQuery, jobsQuery, moreJobsQuery } from '../api/job-queries.ts';
import {
  hasGroups,
  type JobFilters,
  type JobGroup,
  jobGroups,
  statusesOf,
} from '../format/job-filters.ts';

/** Jobs of a group; its heading leads to the others. */
export const GROUP_JOBS = 50;
export const FINISHED_JOBS = 20;
/** The first jobs of a list, which are kept fresh. */
export const FIRST_JOBS = 50;
/** As many stay fresh once a person scrolls, so that new jobs leave no gap to the rest. */
const SCROLLED_JOBS = 200;

/** A line of the list. */
export type JobLine =
  | { type: 'group'; group: JobGroup; count: string }
  | { type: 'job'; job: ListedJob }
  | { type: 'more'; group: JobGroup };

export interface JobList {
  lines: readonly JobLine[];
  /** The jobs among the lines. */
  jobs: readonly ListedJob[];
  isPending: boolean;
  error: Error | null;
  isFetching: boolean;
  refetch: () => void;
  /** Whether jobs are being read at the end of the list. */
  isReadingMore: boolean;
  /** Reads the next jobs; null at the end. */
  readMore: (() => void) | null;
}

/** The list with groups: the first jobs of each state. */
export function useGroupedJobs(workspaceId: string, filters: JobFilters, isUsed: boolean): JobList {
  const counts = useQuery({ ...jobCountsQuery(workspaceId, filters), enabled: isUsed });
  const lists = useQueries({
    queries: jobGroups.map((group) => ({
      ...groupQuery(workspaceId, filters, group),
      enabled: isUsed,
    })),
  });
  const lines: JobLine[] = [];
  jobGroups.forEach((group, at) => {
    const page = lists[at]?.data;
    if (page === undefined || page.jobs.length === 0) return;
    lines.push({ type: 'group', group, count: countOf(group, counts.data) });
    for (const job of page.jobs) lines.push({ type: 'job', job });
    if (page.nextCursor !== null) lines.push({ type: 'more', group });
  });
  return {
    lines,
    jobs: jobsOf(lines),
    isPending: lists.some((list) => list.isPending),
    error: lists.find((list) => list.error)?.error ?? null,
    isFetching: lists.some((list) => list.isFetching),
    refetch: () => {
      for (const list of lists) void list.refetch();
    },
    isReadingMore: false,
    readMore: null,
  };
}

export function groupQuery(workspaceId: string, filters: JobFilters, group: JobGroup) {
  const limit = group.name === 'finished' ? FINISHED_JOBS : GROUP_JOBS;
  return jobsQuery(workspaceId, filters, { statuses: group.statuses, limit });
}

function countOf(
  { statuses }: JobGroup,
  data: { counts: JobCounts; capped: readonly JobStatus[] } | undefined,
): string {
  if (data === undefined) return '';
  const sum = statuses.reduce((total, status) => total + data.counts[status], 0);
  const isCapped = statuses.some((status) => data.capped.includes(status));
  return `${sum.toLocaleString('en')}${isCapped ? '+' : ''}`;
}

/**
 * The list without groups. The first jobs are kept fresh; the others are read while a person
 * scrolls, and stay as they were.
 */
export function useFlatJobs(workspaceId: string, filters: JobFilters, isUsed: boolean): JobList {
  const statuses = statusesOf(filters.status);
  const view = JSON.stringify([workspaceId, filters]);
  // Where the jobs begin that are read while scrolling, for this view.
  const [begin, setBegin] = useState<{ view: string; cursor: string; after: string } | null>(null);
  const rest = begin?.view === view ? begin : null;
  const limit = rest === null ? FIRST_JOBS : SCROLLED_JOBS;
  const first = useQuery({
    ...jobsQuery(workspaceId, filters, { statuses, limit }),
    enabled: isUsed,
  });
  const more = useInfiniteQuery(
    moreJobsQuery(workspaceId, filters, { statuses, cursor: rest?.cursor ?? null }),
  );
  const fresh = first.data?.jobs ?? [];
  const lastFresh = fresh.at(-1)?.jobId;
  // So many new jobs have come that some lie between the fresh ones and the rest: begin again.
  const hasGap =
    rest !== null && !first.isPlaceholderData && lastFresh !== undefined && lastFresh > rest.after;
  const older = hasGap ? [] : (more.data?.pages.flatMap((page) => page.jobs) ?? []);
  const jobs = [
    ...fresh,
    ...older.filter((job) => lastFresh === undefined || job.jobId < lastFresh),
  ];
  const cursor = first.data?.nextCursor ?? null;
  const start = () => {
    if (cursor !== null) setBegin({ view, cursor, after: lastFresh ?? '' });
  };
  const canReadMore = rest === null || hasGap ? cursor !== null : more.hasNextPage;
  return {
    lines: jobs.map((job) => ({ type: 'job', job })),
    jobs,
    isPending: first.isPending,
    error: first.error ?? more.error,
    isFetching: first.isFetching,
    refetch: () => void first.refetch(),
    isReadingMore: rest !== null && more.isFetching,
    readMore: canReadMore
      ? () => {
          if (rest === null || hasGap) start();
          else if (!more.isFetching) void more.fetchNextPage();
        }
      : null,
  };
}

/** The list that the filters ask for. */
export function useJobList(workspaceId: string, filters: JobFilters): JobList {
  const isGrouped = hasGroups(filters);
  const grouped = useGroupedJobs(workspaceId, filters, isGrouped);
  const flat = useFlatJobs(workspaceId, filters, !isGrouped);
  return isGrouped ? grouped : flat;
}

function jobsOf(lines: readonly JobLine[]): ListedJob[] {
  return lines.flatMap((line) => (line.type === 'job' ? [line.job] : []));
}
