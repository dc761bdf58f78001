import type { ActivityItem } from '@signalbox/contract';
import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../live/live-state.ts';
import { callHub } from './hub-call.ts';
import { LIVE_REFRESH_MS } from './job-queries.ts';
import type { LogRef } from './log-queries.ts';

const PAGE_ITEMS = 1_000;
const noItems: readonly ActivityItem[] = [];

/** Reads what the tool of an attempt did. A refresh reads what is new; `live`: more can arrive. */
export function activityQuery(ref: LogRef, live: boolean) {
  // Changes of the log make it old.
  const queryKey = ['job-log', ref.workspaceId, ref.jobId, ref.attempt, 'activity'];
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<readonly ActivityItem[]> => {
      let items = client.getQueryData<readonly ActivityItem[]>(queryKey) ?? noItems;
      for (;;) {
        const after = items.at(-1)?.seq ?? 0;
        const request = { ...ref, after, limit: PAGE_ITEMS };
        const page = await callHub('jobs', 'activity', request, signal);
        // A page of long items is short, so only an empty one is the end.
        if (page.items.length === 0) return items;
        items = [...items, ...page.items];
      }
    },
    // Items never change, and those that are known stay the same objects.
    structuralSharing: false,
    refetchInterval: live ? unlessLive(LIVE_REFRESH_MS) : false,
  });
}
