import type { JobEvent, JobKind, JobStatus } from '@signalbox/contract';
import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import { callHub } from './hub-call.ts';

/** Filters of the job list; both are part of the URL. */
export interface JobFilters {
  status?: JobStatus | undefined;
  kind?: JobKind | undefined;
}

const LIST_REFRESH_MS = 5_000;
/** A refresh reads every page again, so a long list refreshes less often. */
const LONG_LIST_REFRESH_MS = 20_000;
const LONG_LIST_PAGES = 3;
const PAGE_JOBS = 50;
const LIVE_REFRESH_MS = 2_000;
/** Events per read; an output event can contain 64 KB. */
export const EVENTS_PAGE = 300;
const NAMES_STALE_MS = 60_000;

export function jobsQuery(workspaceId: string, filters: JobFilters) {
  return infiniteQueryOptions({
    queryKey: ['jobs', workspaceId, filters],
    queryFn: ({ pageParam, signal }) =>
      callHub(
        'jobs',
        'list',
        {
          workspaceId,
          view: 'summary',
          limit: PAGE_JOBS,
          ...(filters.status && { status: filters.status }),
          ...(filters.kind && { kind: filters.kind }),
          ...(pageParam && { cursor: pageParam }),
        },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      (query.state.data?.pages.length ?? 0) > LONG_LIST_PAGES
        ? LONG_LIST_REFRESH_MS
        : LIST_REFRESH_MS,
  });
}

/** The number of jobs in each status. */
export function jobCountsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['job-counts', workspaceId],
    queryFn: ({ signal }) => callHub('jobs', 'counts', { workspaceId }, signal),
    refetchInterval: LIST_REFRESH_MS,
  });
}

export function jobQuery(workspaceId: string, jobId: string) {
  return queryOptions({
    queryKey: ['job', workspaceId, jobId],
    queryFn: ({ signal }) => callHub('jobs', 'get', { workspaceId, jobId }, signal),
    refetchInterval: LIVE_REFRESH_MS,
  });
}

/** The timeline as read so far, ordered by `seq`. */
export interface JobEvents {
  events: JobEvent[];
  nextAfter: number;
}

/**
 * The latest events of a job. Each refresh adds new ones. `live`: whether more can arrive. Events
 * before the last page are read on request.
 */
export function jobEventsQuery(
  client: QueryClient,
  workspaceId: string,
  jobId: string,
  live: boolean,
) {
  const queryKey = ['job-events', workspaceId, jobId];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<JobEvents> => {
      const known = client.getQueryData<JobEvents>(queryKey);
      const read = (after: number | undefined, limit: number) =>
        callHub(
          'jobEvents',
          'listForJob',
          { workspaceId, jobId, limit, ...(after !== undefined && { after }) },
          signal,
        );
      const heartbeat = known?.events.findLast(
        (event) => event.kind === 'heartbeat' && event.message === null,
      );
      const [news, beats] = await Promise.all([
        read(known?.nextAfter, EVENTS_PAGE),
        // A folded heartbeat changes in place, before `after`, so read it again by its seq.
        heartbeat ? read(heartbeat.seq - 1, 1) : undefined,
      ]);
      return {
        events: mergeEvents(known?.events ?? [], [...(beats?.events ?? []), ...news.events]),
        nextAfter: news.nextAfter,
      };
    },
    refetchInterval: live ? LIVE_REFRESH_MS : false,
  });
}

/** Adds events in the order of `seq`; replaces those with the same ID. */
export function mergeEvents(known: readonly JobEvent[], added: readonly JobEvent[]): JobEvent[] {
  const byId = new Map(known.map((event) => [event.eventId, event]));
  for (const event of added) byId.set(event.eventId, event);
  return [...byId.values()].sort((a, b) => a.seq - b.seq);
}

/** Repositories of a workspace, for their labels; an unknown one is shown by its ID. */
export function repositoriesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['repositories', workspaceId],
    queryFn: ({ signal }) => callHub('repositories', 'list', { workspaceId, limit: 200 }, signal),
    staleTime: NAMES_STALE_MS,
  });
}

/** Agents of a workspace, for their names. */
export function agentsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['agents', workspaceId],
    queryFn: ({ signal }) => callHub('agents', 'list', { workspaceId, limit: 200 }, signal),
    staleTime: NAMES_STALE_MS,
  });
}
