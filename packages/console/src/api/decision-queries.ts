import type { ListedUncertainty, ResponseOf } from '@signalbox/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../live/live-state.ts';
import { type ConsoleRows, callHub } from './hub-call.ts';
import { pagesQuery } from './pages-query.ts';

/** Filters of the inbox; all are part of the URL. */
export interface InboxFilters {
  /** Absent: the open ones. */
  show?: 'answered' | undefined;
  mine?: true | undefined;
  repo?: string | undefined;
  run?: string | undefined;
}

/** A row of the inbox. */
export type DecisionRow = ListedUncertainty;
/** All that a decision card shows. */
export type DecisionView = Omit<ResponseOf<ConsoleRows['uncertainties']['get']>, 'ok'>;

/** The only interval of this file, for as long as the hub does not push changes. */
const DECISION_REFRESH_MS = 2_000;
const PAGE_DECISIONS = 50;

export function decisionsQuery(workspaceId: string, filters: InboxFilters) {
  const { show, mine, repo, run } = filters;
  const list = pagesQuery(['uncertainties', workspaceId, filters], (from, signal) => {
    const page = {
      workspaceId,
      limit: PAGE_DECISIONS,
      ...from,
      ...(mine && { mine }),
      ...(repo && { repoId: repo }),
      ...(run && { runId: run }),
    };
    if (show !== 'answered') return callHub('uncertainties', 'inbox', page, signal);
    const answered = { ...page, view: 'summary', status: 'resolved' } as const;
    return callHub('uncertainties', 'list', answered, signal);
  });
  const refetchInterval = unlessLive(DECISION_REFRESH_MS);
  return { ...list, placeholderData: keepPreviousData, refetchInterval };
}

/** The number of open decision requests, for the badge and the title. */
export function decisionCountsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['uncertainty-counts', workspaceId],
    queryFn: ({ signal }) => callHub('uncertainties', 'counts', { workspaceId }, signal),
    refetchInterval: unlessLive(DECISION_REFRESH_MS),
  });
}

/** One question, with its answers and what waits for it. */
export function decisionQuery(workspaceId: string, uncertaintyId: string) {
  return queryOptions({
    queryKey: ['uncertainty', workspaceId, uncertaintyId],
    queryFn: ({ signal }) =>
      callHub('uncertainties', 'get', { workspaceId, uncertaintyId }, signal),
    refetchInterval: unlessLive(DECISION_REFRESH_MS),
  });
}
