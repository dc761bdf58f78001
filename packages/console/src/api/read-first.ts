import type {
  InfiniteQueryExecuteOptions,
  QueryClient,
  QueryExecuteOptions,
  QueryKey,
} from '@tanstack/react-query';

/**
 * Starts a read in a route's loader, unless its data is in the cache already. The promise never
 * rejects: the page's own read of the same query tries again and shows the failure in its place.
 */
export async function readFirst<Fn, Failure, Data, QueryData, Key extends QueryKey>(
  client: QueryClient,
  query: QueryExecuteOptions<Fn, Failure, Data, QueryData, Key>,
): Promise<void> {
  await client.query({ ...query, staleTime: 'static', retry: false }).catch(() => undefined);
}

/** `readFirst` for the first page of a list. */
export async function readFirstPage<Fn, Failure, Data, Key extends QueryKey, Param>(
  client: QueryClient,
  query: InfiniteQueryExecuteOptions<Fn, Failure, Data, Key, Param>,
): Promise<void> {
  await client
    .infiniteQuery({ ...query, staleTime: 'static', retry: false })
    .catch(() => undefined);
}
