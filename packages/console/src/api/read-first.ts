import type {
  InfiniteQueryExecuteOptions,
  QueryClient,
  QueryExecuteOptions,
  QueryKey,
} from '@tanstack/react-query';

let isFrameShown = false;

/** Called when the frame around the pages of a workspace is in the document. */
export function noteFrameShown(): void {
  isFrameShown = true;
}

/**
 * Waits for a read, so that a page that follows another one appears with its data. The first page
 * waits for nothing, since the router shows the frame around it only together with it.
 */
async function waitFor(read: Promise<unknown>): Promise<void> {
  const ended = read.then(
    () => undefined,
    () => undefined,
  );
  if (isFrameShown) await ended;
}

/**
 * Starts a read in a route's loader, unless its data is in the cache already. The promise never
 * rejects: the page's own read of the same query tries again and shows the failure in its place.
 */
export async function readFirst<Fn, Failure, Data, QueryData, Key extends QueryKey>(
  client: QueryClient,
  query: QueryExecuteOptions<Fn, Failure, Data, QueryData, Key>,
): Promise<void> {
  await waitFor(client.query({ ...query, staleTime: 'static', retry: false }));
}

/** `readFirst` for the first page of a list. */
export async function readFirstPage<Fn, Failure, Data, Key extends QueryKey, Param>(
  client: QueryClient,
  query: InfiniteQueryExecuteOptions<Fn, Failure, Data, Key, Param>,
): Promise<void> {
  await waitFor(client.infiniteQuery({ ...query, staleTime: 'static', retry: false }));
}
