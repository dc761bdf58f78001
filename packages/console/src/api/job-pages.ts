import type { endpoints, JobStatus, ListedJob, ResponseOf } from '@signalbox/contract';
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  replaceEqualDeep,
} from '@tanstack/react-query';
import type { JobFilters } from '../format/job-filters.ts';
import { unlessLive } from '../live/live-state.ts';
import { callHub } from './hub-call.ts';
import { LIST_REFRESH_MS, listRequest } from './job-queries.ts';

/*
 * A list of any length, newest first, in pages. Only the pages in view are read again when
 * something changes: each is a query of its own, which puts what it read into the whole list.
 */

/** Jobs of the first page, and of each that is read while a person scrolls. */
const FIRST_JOBS = 50;
const MORE_JOBS = 200;
/** A page that was out of view for longer is read again when it comes into view. */
const PAGE_STALE_MS = 30_000;
/** Reads for a page that has grown. If more jobs have come, the list begins again. */
const READS_MAX = 5;

export interface JobPage {
  jobs: readonly ListedJob[];
  /** Null at the end of the list. */
  nextCursor: string | null;
  /**
   * The id of the last job that can be on this page; ids fall. Empty at the end of the list; null
   * if unknown: none of the jobs that were examined for this page matched.
   */
  untilId: string | null;
  readAtMs: number;
}

export type JobPages = InfiniteData<JobPage, string>;

/** A list: what it contains, which is also its key. */
export interface JobListRef {
  workspaceId: string;
  filters: JobFilters;
  statuses: readonly JobStatus[] | undefined;
}

/** The pages that were read so far. */
export function jobPagesQuery(list: JobListRef) {
  return infiniteQueryOptions({
    // The workspace is within the second part, so that no change makes all pages old at once.
    queryKey: ['job-pages', list],
    queryFn: async ({ pageParam, signal }): Promise<JobPage> =>
      pageOf(await readPart(list, pageParam, signal)),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing all pages for each new one takes longer than drawing it.
    structuralSharing: false,
  });
}

/** A page of a list that may have changed. Read it while the page is in view. */
export function jobPageQuery(client: QueryClient, list: JobListRef, pages: JobPages, at: number) {
  const page = pages.pages[at];
  const cursor = pages.pageParams[at] ?? '';
  const range = { beforeId: pages.pages[at - 1]?.untilId ?? null, untilId: page?.untilId ?? null };
  const { filters, statuses } = list;
  return queryOptions({
    queryKey: ['job-page', list.workspaceId, range, cursor, filters, statuses],
    queryFn: async ({ signal }) => {
      const fresh = await readPageAgain((from) => readPart(list, from, signal), cursor, range);
      const { queryKey } = jobPagesQuery(list);
      const whole = client.getQueryCache().find({ queryKey, exact: true });
      // The page that is being read at the end of the list is added to the pages of before.
      while (whole?.state.fetchStatus === 'fetching' && !signal.aborted) {
        await whole.promise?.catch(() => undefined);
      }
      client.setQueryData<JobPages>(queryKey, (known) => known && putPage(known, cursor, fresh));
      return fresh.readAtMs;
    },
    initialData: page?.readAtMs ?? 0,
    initialDataUpdatedAt: page?.readAtMs ?? 0,
    staleTime: PAGE_STALE_MS,
    refetchInterval: unlessLive(LIST_REFRESH_MS),
  });
}

/** The ids below one and down to another, which is among them; null: without this bound. */
export interface IdRange {
  beforeId: string | null;
  untilId: string | null;
}

export function isInRange({ beforeId, untilId }: IdRange, id: string): boolean {
  return (beforeId === null || id < beforeId) && (untilId === null || id >= untilId);
}

type JobPart = Pick<ResponseOf<typeof endpoints.jobs.list>, 'jobs' | 'nextCursor'>;

function readPart(list: JobListRef, cursor: string, signal: AbortSignal): Promise<JobPart> {
  const limit = cursor === '' ? FIRST_JOBS : MORE_JOBS;
  const request = listRequest(list.workspaceId, list.filters, list.statuses, limit);
  return callHub('jobs', 'list', { ...request, ...(cursor && { cursor }) }, signal);
}

function pageOf({ jobs, nextCursor }: JobPart): JobPage {
  const untilId = nextCursor === null ? '' : (jobs.at(-1)?.jobId ?? null);
  return { jobs, nextCursor, untilId, readAtMs: Date.now() };
}

/** Reads a page down to where it ended, in several parts if it has grown. */
export async function readPageAgain(
  read: (cursor: string) => Promise<JobPart>,
  cursor: string,
  { untilId }: IdRange,
): Promise<JobPage & { isWhole: boolean }> {
  const jobs: ListedJob[] = [];
  let from = cursor;
  for (let reads = 1; ; reads++) {
    const part = await read(from);
    jobs.push(...part.jobs);
    const { nextCursor } = part;
    const lastId = jobs.at(-1)?.jobId;
    const isWhole = untilId === null || (lastId !== undefined && lastId <= untilId);
    if (isWhole || nextCursor === null || reads === READS_MAX) {
      const page = pageOf({ jobs, nextCursor });
      return { ...page, isWhole, ...(isWhole && { untilId }) };
    }
    from = nextCursor;
  }
}

/** The list with a page that was read again; without those after it if there may be a gap. */
export function putPage(
  { pages, pageParams }: JobPages,
  cursor: string,
  { isWhole, ...fresh }: JobPage & { isWhole: boolean },
): JobPages {
  const at = pageParams.indexOf(cursor);
  const known = pages[at];
  if (known === undefined) return { pages, pageParams };
  // Rows of jobs that are as they were need not be drawn again.
  const page = { ...fresh, jobs: keepEqual(known.jobs, fresh.jobs) };
  if (isWhole) return { pages: pages.with(at, page), pageParams };
  return { pages: [...pages.slice(0, at), page], pageParams: pageParams.slice(0, at + 1) };
}

function keepEqual(known: readonly ListedJob[], fresh: readonly ListedJob[]): ListedJob[] {
  const byId = new Map(known.map((job) => [job.jobId, job]));
  return fresh.map((job) => replaceEqualDeep(byId.get(job.jobId), job));
}

/** The jobs of all pages, each once: a page that was read again may reach into the next one. */
export function jobsOfPages(pages: readonly JobPage[]): ListedJob[] {
  const jobs: ListedJob[] = [];
  let lastId: string | undefined;
  for (const page of pages) {
    for (const job of page.jobs) {
      if (lastId !== undefined && job.jobId >= lastId) continue;
      jobs.push(job);
      lastId = job.jobId;
    }
  }
  return jobs;
}

/** The numbers of the pages that have jobs between two ids, the newer one first. */
export function pagesBetween(
  pages: readonly JobPage[],
  firstId: string,
  lastId: string,
): { from: number; to: number } {
  const pageOfId = (id: string) =>
    pages.findIndex(({ untilId }) => untilId !== null && id >= untilId);
  return { from: pageOfId(firstId), to: pageOfId(lastId) };
}
