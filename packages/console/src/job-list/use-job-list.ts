import type { endpoints, ListedJob, ResponseOf } from '@signalbox/contract';
import {
  type UseQueryResult,
  useInfiniteQuery,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import {
  type JobListRef,
  type JobPages,
  jobPageQuery,
  jobPagesQuery,
  jobsOfPages,
  pagesBetween,
} from '../api/job-pages.ts';
import { jobCountsQuery, jobsQuery, newestJobsQuery } from '../api/job-queries.ts';
import {
  hasGroups,
  type JobFilters,
  type JobGroup,
  jobGroups,
  statusesOf,
} from '../format/job-filters.ts';

/** Jobs of a group at first, and of one that was opened. */
const GROUP_JOBS = 10;
const OPENED_JOBS = 200;
const noPages: JobPages['pages'] = [];

/** A line of the list. */
export type JobLine =
  | { type: 'group'; group: JobGroup; count: string; isCollapsed: boolean }
  | { type: 'job'; job: ListedJob }
  | { type: 'more'; group: JobGroup; count: string; isOpened: boolean };

/** How much of a group is shown; absent: its first jobs. */
type GroupState = 'collapsed' | 'opened';
export type GroupStates = Readonly<Partial<Record<JobGroup['name'], GroupState>>>;

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
  /** Collapses a group, opens it or shows its first jobs again. */
  setGroup: (name: JobGroup['name'], state: GroupState | undefined) => void;
  /** Call it with the ids of the first and the last job that are drawn: they are kept fresh. */
  onShown: (shown: { firstId: string; lastId: string }) => void;
}

/** The list with groups: the first jobs of each state. */
function useGroupedJobs(workspaceId: string, filters: JobFilters, isUsed: boolean): JobList {
  const client = useQueryClient();
  const [states, setStates] = useState<GroupStates>({});
  const setGroup = useCallback<JobList['setGroup']>(
    (name, state) => setStates((now) => ({ ...now, [name]: state })),
    [],
  );
  const { data: counts } = useQuery({ ...jobCountsQuery(workspaceId, filters), enabled: isUsed });
  const newest = useQuery({ ...groupedJobsQuery(workspaceId, filters), enabled: isUsed });
  const opened = useQueries({
    queries: jobGroups.map((group) => ({
      ...jobsQuery(workspaceId, filters, { statuses: group.statuses, limit: OPENED_JOBS }),
      // Until it is read, the group keeps its first jobs.
      placeholderData: () => undefined,
      enabled: isUsed && states[group.name] === 'opened',
    })),
    combine: combineReads,
  });
  const pages = useMemo(
    () => withoutDoubles(readsOfGroups(newest, opened.reads, states)),
    [newest, opened.reads, states],
  );
  const lines = useMemo(() => linesOfGroups(pages, counts, states), [pages, counts, states]);
  const jobs = useMemo(
    () => lines.flatMap((line) => (line.type === 'job' ? [line.job] : [])),
    [lines],
  );
  return {
    lines,
    jobs,
    setGroup,
    isPending: newest.isPending,
    isFetching: newest.isFetching || opened.isFetching,
    error: newest.error ?? opened.error,
    refetch: () => void client.refetchQueries({ queryKey: ['jobs', workspaceId], type: 'active' }),
    isReadingMore: false,
    readMore: null,
    // All are kept fresh.
    onShown: () => undefined,
  };
}

type GroupPage = Pick<ResponseOf<typeof endpoints.jobs.list>, 'jobs' | 'nextCursor'>;
type Counts = Pick<ResponseOf<typeof endpoints.jobs.counts>, 'counts' | 'capped'>;

interface GroupRead {
  data: GroupPage | undefined;
  /** When the answer arrived, in ms. */
  dataUpdatedAt: number;
}

/** Outside the component, so that reads that are as they were stay the same object. */
function combineReads(reads: readonly UseQueryResult<GroupPage>[]) {
  return {
    reads: reads.map(({ data, dataUpdatedAt }): GroupRead => ({ data, dataUpdatedAt })),
    isFetching: reads.some((read) => read.isFetching),
    error: reads.find((read) => read.error)?.error ?? null,
  };
}

/** The page of each group: of all its jobs if it was opened and read, else of the newest. */
function readsOfGroups(
  newest: GroupRead,
  opened: readonly GroupRead[],
  states: GroupStates,
): GroupRead[] {
  return jobGroups.map(({ name, statuses }, at) => {
    const whole = opened[at];
    if (states[name] === 'opened' && whole?.data !== undefined) return whole;
    const isOfGroup = ({ status }: ListedJob) => statuses.some((each) => each === status);
    const jobs = newest.data?.jobs.filter(isOfGroup);
    return {
      data: jobs && { jobs, nextCursor: null },
      dataUpdatedAt: newest.dataUpdatedAt,
    };
  });
}

/**
 * The page of each group, with each job once. An opened group is read apart, so a job that changes
 * its state is in its page and in that of another group for a moment; the page that was read last
 * is right, and of two at the same time the later group, where most jobs go.
 */
export function withoutDoubles(reads: readonly GroupRead[]): (GroupPage | undefined)[] {
  const placeOf = new Map<string, { at: number; readAt: number }>();
  for (const [at, { data, dataUpdatedAt: readAt }] of reads.entries()) {
    for (const { jobId } of data?.jobs ?? []) {
      if (readAt >= (placeOf.get(jobId)?.readAt ?? 0)) placeOf.set(jobId, { at, readAt });
    }
  }
  return reads.map(({ data }, at) => {
    const isDouble = ({ jobId }: ListedJob) => placeOf.get(jobId)?.at !== at;
    if (!data?.jobs.some(isDouble)) return data;
    return { ...data, jobs: data.jobs.filter((job) => !isDouble(job)) };
  });
}

/** The lines of the groups that have jobs, each with a heading. Pages have the order of groups. */
export function linesOfGroups(
  pages: readonly (GroupPage | undefined)[],
  counts: Counts | undefined,
  states: GroupStates,
): JobLine[] {
  return jobGroups.flatMap((group, at): JobLine[] => {
    const page = pages[at];
    if (page === undefined || page.jobs.length === 0) return [];
    const isCollapsed = states[group.name] === 'collapsed';
    const isOpened = states[group.name] === 'opened';
    const heading: JobLine = { type: 'group', group, count: countOf(group, counts), isCollapsed };
    if (isCollapsed) return [heading];
    // A page of an opened group may still be on its way, and is longer while it closes again.
    const shown = isOpened ? page.jobs : page.jobs.slice(0, GROUP_JOBS);
    // With some filters, the hub examines a number of jobs only.
    const isCut = group.statuses.some((status) => counts?.capped.includes(status));
    const hasMore = page.nextCursor !== null || page.jobs.length > shown.length || isCut;
    const count = countOf(group, counts, shown.length);
    return [
      heading,
      ...shown.map((job): JobLine => ({ type: 'job', job })),
      ...(hasMore ? [{ type: 'more', group, count, isOpened } as const] : []),
    ];
  });
}

/** The first jobs of each group, and one more, which tells that there are more. */
export function groupedJobsQuery(workspaceId: string, filters: JobFilters) {
  return newestJobsQuery(workspaceId, filters, GROUP_JOBS + 1);
}

/** The number of jobs of a group, without some; empty while it is not known. */
export function countOf({ statuses }: JobGroup, data: Counts | undefined, without = 0): string {
  if (data === undefined) return '';
  const sum = statuses.reduce((total, status) => total + data.counts[status], -without);
  const isCapped = statuses.some((status) => data.capped.includes(status));
  return sum <= 0 ? '' : `${sum.toLocaleString('en')}${isCapped ? '+' : ''}`;
}

/** The list without groups, read page by page while a person scrolls. */
function useFlatJobs(workspaceId: string, filters: JobFilters, isUsed: boolean): JobList {
  const client = useQueryClient();
  const list = flatListOf(workspaceId, filters);
  const more = useInfiniteQuery({ ...jobPagesQuery(list), enabled: isUsed });
  const { data, isFetching, fetchNextPage, hasNextPage, refetch } = more;
  const pages = data?.pages ?? noPages;
  const jobs = useMemo(() => jobsOfPages(pages), [pages]);
  const lines = useMemo(() => jobs.map((job): JobLine => ({ type: 'job', job })), [jobs]);
  const [{ from, to }, setShown] = useState({ from: -1, to: -1 });
  const onShown = useCallback(
    (shown: { firstId: string; lastId: string }) => {
      const next = pagesBetween(pages, shown.firstId, shown.lastId);
      setShown((before) => (before.from === next.from && before.to === next.to ? before : next));
    },
    [pages],
  );
  const isOwn = isUsed && data !== undefined && !more.isPlaceholderData;
  // To search logs again for each change of a job would keep the hub busy.
  const isLive = filters.in !== 'logs';
  // The numbers are −1 until rows are drawn.
  const inView =
    isOwn && isLive && from >= 0 ? pages.keys().filter((at) => at >= from && at <= to) : [];
  const fresh = useQueries({
    queries: [...inView].map((at) => jobPageQuery(client, list, data as JobPages, at)),
  });
  const readMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  return {
    lines,
    jobs,
    isPending: more.isPending,
    error: more.error ?? fresh.find((page) => page.error)?.error ?? null,
    isFetching,
    refetch: () => {
      if (data === undefined) void refetch();
      else if (more.error) readMore();
      for (const page of fresh) void page.refetch();
    },
    isReadingMore: more.isFetchingNextPage,
    readMore: hasNextPage && !more.isPlaceholderData ? readMore : null,
    setGroup: () => undefined,
    onShown,
  };
}

/** The list without groups that the filters ask for. */
export function flatListOf(workspaceId: string, filters: JobFilters): JobListRef {
  return { workspaceId, filters, statuses: statusesOf(filters.status) };
}

/** The list that the filters ask for. */
export function useJobList(workspaceId: string, filters: JobFilters): JobList {
  const isGrouped = hasGroups(filters);
  const grouped = useGroupedJobs(workspaceId, filters, isGrouped);
  const flat = useFlatJobs(workspaceId, filters, !isGrouped);
  return isGrouped ? grouped : flat;
}
