import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query';

/** Where a page begins; empty for the first. */
interface PageStart {
  cursor?: string;
}

/** A list in pages. */
export function pagesQuery<Page extends { nextCursor: string | null }>(
  queryKey: QueryKey,
  read: (from: PageStart, signal: AbortSignal) => Promise<Page>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam === '' ? {} : { cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  });
}
