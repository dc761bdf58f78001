import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { callHub } from './hub-call.ts';

const PAGE_ROWS = 30;

export type { ContextItemSummary, UploadSummary } from '@signalbox/contract';

/** The context items that match a text, best first; without a text all, newest first. */
export function contextItemsQuery(workspaceId: string, text: string) {
  return infiniteQueryOptions({
    queryKey: ['context-items', workspaceId, 'pages', text],
    queryFn: ({ pageParam, signal }) => {
      const page = { workspaceId, limit: PAGE_ROWS, ...(pageParam && { cursor: pageParam }) };
      return text === ''
        ? callHub('contextItems', 'list', page, signal)
        : callHub('contextItems', 'search', { ...page, query: text }, signal);
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  });
}

export function contextItemQuery(workspaceId: string, itemId: string) {
  return queryOptions({
    queryKey: ['context-items', workspaceId, 'one', itemId],
    queryFn: ({ signal }) => callHub('contextItems', 'get', { workspaceId, itemId }, signal),
  });
}

/** Newest first. */
export function uploadsQuery(workspaceId: string) {
  return infiniteQueryOptions({
    queryKey: ['uploads', workspaceId, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      callHub(
        'uploads',
        'list',
        { workspaceId, limit: PAGE_ROWS, ...(pageParam && { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  });
}

export function uploadUsageQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['uploads', workspaceId, 'usage'],
    queryFn: ({ signal }) => callHub('uploads', 'usage', { workspaceId }, signal),
  });
}
