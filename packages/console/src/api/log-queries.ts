import type { ResponseOf } from '@signalbox/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../live/live-state.ts';
import { type ConsoleRows, callHub } from './hub-call.ts';
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

/** The latest output of a running attempt, refreshed as it grows. */
export function logEndQuery(ref: LogRef, lines: number) {
  return queryOptions({
    queryKey: ['job-log', ref.workspaceId, ref.jobId, ref.attempt, 'end', lines],
    queryFn: ({ signal }) => callHub('jobs', 'log', { ...ref, limit: lines }, signal),
    refetchInterval: unlessLive(LIVE_REFRESH_MS),
  });
}

/** The last lines of a log, where it usually says why an attempt failed. */
export function logTailQuery(ref: LogRef) {
  return queryOptions({
    queryKey: ['job-log-tail', ref.workspaceId, ref.jobId, ref.attempt],
    queryFn: ({ signal }) => callHub('jobs', 'log', { ...ref, limit: LOG_PAGE_LINES }, signal),
  });
}

/** The size of a log that may grow. */
export interface LogSize {
  totalLines: number;
  sizeBytes: number;
}

/** The lines of a growing log that were found so far. */
export interface FoundLines {
  matches: readonly LogMatch[];
  /** The first line that was not searched to its end. */
  fromLine: number;
  /** Whether there may be more lines than those. */
  isCut: boolean;
}
type LogMatch = ResponseOf<ConsoleRows['jobs']['searchLog']>['matches'][number];

/** The place of the searched text in the keys of searches. */
const FAMILY_TEXT = 4;
const nothingFound: FoundLines = { matches: [], fromLine: 1, isCut: false };

/** The lines that begin and end groups. */
export function logGroupsQuery(ref: LogRef, size: LogSize) {
  return logSearchQuery(ref, 'group::', size);
}

/**
 * The lines that contain a text: the first thousand.
 *
 * @param size of the log now. When it has grown, only what is new is searched.
 */
export function logSearchQuery(ref: LogRef, text: string, { totalLines, sizeBytes }: LogSize) {
  const family = ['job-log-search', ref.workspaceId, ref.jobId, ref.attempt, text];
  return queryOptions({
    queryKey: [...family, sizeBytes],
    queryFn: async ({ client, signal }): Promise<FoundLines> => {
      const earlier = client
        .getQueriesData<FoundLines>({ queryKey: family })
        .map(([, found]) => found)
        .filter((found) => found !== undefined)
        .filter(({ fromLine }) => fromLine <= totalLines);
      const known = earlier.reduce(
        (best, found) => (found.fromLine > best.fromLine ? found : best),
        nothingFound,
      );
      return known.isCut ? known : await searchOn(ref, text, known, totalLines, signal);
    },
    enabled: text !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: PAGE_KEPT_MS,
    // Those of another text would be wrong lines.
    placeholderData: (found: FoundLines | undefined, query) =>
      query?.queryKey[FAMILY_TEXT] === text ? found : undefined,
  });
}

/** Searches the lines behind those that were searched. The last one may have been growing. */
async function searchOn(
  ref: LogRef,
  text: string,
  known: FoundLines,
  totalLines: number,
  signal: AbortSignal,
): Promise<FoundLines> {
  const matches = known.matches.filter(({ line }) => line < known.fromLine);
  for (let fromLine: number | null = known.fromLine; fromLine !== null; ) {
    const limit = MATCHES_MAX - matches.length;
    if (limit === 0) return { matches, fromLine, isCut: true };
    const request = { ...ref, text, fromLine, limit };
    const part: Omit<ResponseOf<ConsoleRows['jobs']['searchLog']>, 'ok'> = await callHub(
      'jobs',
      'searchLog',
      request,
      signal,
    );
    matches.push(...part.matches);
    fromLine = part.nextLine;
  }
  return { matches, fromLine: Math.max(1, totalLines), isCut: false };
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
