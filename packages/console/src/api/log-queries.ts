import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../live/live-state.ts';
import { callHub } from './hub-call.ts';
import { LIVE_REFRESH_MS } from './job-queries.ts';

/** The log of an attempt. */
export interface LogRef {
  workspaceId: string;
  jobId: string;
  attempt: number;
}

/** Lines that are read and laid out together. Pages begin at fixed lines. */
export const LOG_PAGE_LINES = 200;
/** Pages that are out of sight are forgotten after this time, so that a long log stays small. */
const PAGE_KEPT_MS = 30_000;
const MATCHES_MAX = 1_000;

/** The size of a log and its attempts; `live`: whether more can arrive. */
export function logHeadQuery(ref: LogRef, live: boolean) {
  return queryOptions({
    queryKey: ['job-log', ref.workspaceId, ref.jobId, ref.attempt],
    queryFn: ({ signal }) => callHub('jobs', 'log', { ...ref, limit: 1 }, signal),
    refetchInterval: live ? unlessLive(LIVE_REFRESH_MS) : false,
  });
}

/** The last lines of a log, where it usually says why an attempt failed. */
export function logTailQuery(ref: LogRef) {
  return queryOptions({
    queryKey: ['job-log-tail', ref.workspaceId, ref.jobId, ref.attempt],
    queryFn: ({ signal }) => callHub('jobs', 'log', { ...ref, limit: LOG_PAGE_LINES }, signal),
  });
}

/** The lines that begin and end groups, of a log of some size. */
export function logGroupsQuery(ref: LogRef, sizeBytes: number) {
  return queryOptions({
    queryKey: ['job-log-groups', ref.workspaceId, ref.jobId, ref.attempt, sizeBytes],
    queryFn: async ({ signal }) => {
      const request = { ...ref, text: 'group::', limit: MATCHES_MAX };
      return (await callHub('jobs', 'searchLog', request, signal)).matches;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: PAGE_KEPT_MS,
    placeholderData: keepPreviousData,
  });
}

/**
 * The lines of a page.
 *
 * @param version changes when the page has grown.
 */
export function logPageQuery(ref: LogRef, page: number, version: number) {
  return queryOptions({
    queryKey: ['job-log-page', ref.workspaceId, ref.jobId, ref.attempt, page, version],
    queryFn: async ({ signal }) => {
      const first = page * LOG_PAGE_LINES + 1;
      const lines = [];
      // A page of very long lines arrives in parts.
      for (let fromLine = first; fromLine < first + LOG_PAGE_LINES; ) {
        const limit = first + LOG_PAGE_LINES - fromLine;
        const part = await callHub('jobs', 'log', { ...ref, fromLine, limit }, signal);
        if (part.lines.length === 0) break;
        lines.push(...part.lines);
        fromLine = part.nextLine;
      }
      return lines;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: PAGE_KEPT_MS,
    placeholderData: keepPreviousData,
  });
}

export type LogLine = Awaited<
  ReturnType<NonNullable<ReturnType<typeof logPageQuery>['queryFn']>>
>[number];

/** The lines of a log that contain a text: the first thousand. */
export function logSearchQuery(ref: LogRef, text: string) {
  return queryOptions({
    queryKey: ['job-log-search', ref.workspaceId, ref.jobId, ref.attempt, text],
    queryFn: async ({ signal }) => {
      const lines: number[] = [];
      for (let fromLine: number | null = 1; fromLine !== null; ) {
        const limit = MATCHES_MAX - lines.length;
        if (limit === 0) return { lines, isCut: true };
        const part: { matches: { line: number }[]; nextLine: number | null } = await callHub(
          'jobs',
          'searchLog',
          { ...ref, text, fromLine, limit },
          signal,
        );
        lines.push(...part.matches.map(({ line }) => line));
        fromLine = part.nextLine;
      }
      return { lines, isCut: false };
    },
    enabled: text !== '',
    placeholderData: keepPreviousData,
  });
}
