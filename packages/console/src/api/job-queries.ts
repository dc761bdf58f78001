import type {
  endpoints,
  JobEvent,
  JobStatus,
  PatchBeginning,
  RequestOf,
} from '@signalbox/contract';
import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import { type JobFilters, wireFilters } from '../format/job-filters.ts';
import { unlessLive } from '../live/live-state.ts';
import { callHub } from './hub-call.ts';

export const LIST_REFRESH_MS = 5_000;
export const LIVE_REFRESH_MS = 2_000;
/** Events per read; an output event can contain 64 KB. */
export const EVENTS_PAGE = 300;
const NAMES_STALE_MS = 60_000;

/** The first jobs of a list, newest first. */
export function jobsQuery(
  workspaceId: string,
  filters: JobFilters,
  { statuses, limit }: { statuses: readonly JobStatus[] | undefined; limit: number },
) {
  return queryOptions({
    queryKey: ['jobs', workspaceId, filters, statuses, limit],
    queryFn: ({ signal }) =>
      callHub('jobs', 'list', listRequest(workspaceId, filters, statuses, limit), signal),
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(LIST_REFRESH_MS),
  });
}

export function listRequest(
  workspaceId: string,
  filters: JobFilters,
  statuses: readonly JobStatus[] | undefined,
  limit: number,
): RequestOf<typeof endpoints.jobs.list> {
  return {
    workspaceId,
    view: 'summary',
    fields: ['waitingReason'],
    limit,
    ...wireFilters(filters, Date.now()),
    ...(statuses && { statuses: [...statuses] }),
    ...(filters.q && (filters.in === 'logs' ? { logText: filters.q } : { text: filters.q })),
  };
}

/** The newest jobs of each status. */
export function newestJobsQuery(workspaceId: string, filters: JobFilters, limitPerStatus: number) {
  return queryOptions({
    queryKey: ['jobs', workspaceId, filters, 'per-status', limitPerStatus],
    queryFn: ({ signal }) => {
      const { limit: _limit, ...request } = listRequest(workspaceId, filters, undefined, 1);
      return callHub('jobs', 'list', { ...request, limitPerStatus }, signal);
    },
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(LIST_REFRESH_MS),
  });
}

/** The number of jobs in each status. */
export function jobCountsQuery(workspaceId: string, filters: JobFilters = {}) {
  const { status: _status, q: _q, ...counted } = filters;
  return queryOptions({
    queryKey: ['job-counts', workspaceId, counted],
    queryFn: ({ signal }) =>
      callHub('jobs', 'counts', { workspaceId, ...wireFilters(counted, Date.now()) }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(LIST_REFRESH_MS),
  });
}

/** The pauses of a workspace and its repositories. */
export function pausesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['pauses', workspaceId],
    queryFn: ({ signal }) => callHub('queue', 'listPauses', { workspaceId }, signal),
    refetchInterval: unlessLive(LIST_REFRESH_MS),
  });
}

export function jobQuery(workspaceId: string, jobId: string) {
  return queryOptions({
    queryKey: ['job', workspaceId, jobId],
    queryFn: ({ signal }) => callHub('jobs', 'get', { workspaceId, jobId }, signal),
    refetchInterval: unlessLive(LIVE_REFRESH_MS),
  });
}

/** The changed lines of a job, of its work or of its round alone, if its agent shares them. */
export function jobPatchQuery(workspaceId: string, jobId: string, since: PatchBeginning = 'work') {
  return queryOptions({
    queryKey: ['job-patch', workspaceId, jobId, since],
    queryFn: ({ signal }) => callHub('jobs', 'patch', { workspaceId, jobId, since }, signal),
  });
}

/** The open decision requests of a job. */
export function openQuestionsQuery(workspaceId: string, jobId: string) {
  return queryOptions({
    queryKey: ['uncertainties', workspaceId, 'job', jobId],
    queryFn: ({ signal }) =>
      callHub(
        'uncertainties',
        'list',
        { workspaceId, jobId, status: 'open', promoted: true, view: 'summary', limit: 20 },
        signal,
      ),
    refetchInterval: unlessLive(LIVE_REFRESH_MS),
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
    refetchInterval: live ? unlessLive(LIVE_REFRESH_MS) : false,
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

/** The latest runs of a workspace, to choose from. */
export function runChoicesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['run-choices', workspaceId],
    queryFn: ({ signal }) => callHub('runs', 'list', { workspaceId, limit: 50 }, signal),
    staleTime: NAMES_STALE_MS,
  });
}

/** Agents of a workspace, for their names. */
export function agentsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['agent-names', workspaceId],
    queryFn: ({ signal }) => callHub('agents', 'list', { workspaceId, limit: 200 }, signal),
    staleTime: NAMES_STALE_MS,
  });
}
