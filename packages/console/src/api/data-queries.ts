import { queryOptions } from '@tanstack/react-query';
import { callHub } from './hub-call.ts';
import { pagesQuery } from './pages-query.ts';

const PAGE_ROWS = 30;

export type { ContextItemSummary, UploadSummary } from '@signalbox/contract';

/** The context items that match a text, best first; without a text all, newest first. */
export function contextItemsQuery(workspaceId: string, text: string) {
  return pagesQuery(['context-items', workspaceId, 'pages', text], (from, signal) => {
    const page = { workspaceId, limit: PAGE_ROWS, ...from };
    return text === ''
      ? callHub('contextItems', 'list', page, signal)
      : callHub('contextItems', 'search', { ...page, query: text }, signal);
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
  return pagesQuery(['uploads', workspaceId, 'pages'], (from, signal) =>
    callHub('uploads', 'list', { workspaceId, limit: PAGE_ROWS, ...from }, signal),
  );
}

export function uploadUsageQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['uploads', workspaceId, 'usage'],
    queryFn: ({ signal }) => callHub('uploads', 'usage', { workspaceId }, signal),
  });
}
