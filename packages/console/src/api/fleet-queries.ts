import type { Agent, AgentStatus, ResponseOf } from '@signalbox/contract';
import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../live/live-state.ts';
import { type ConsoleRows, callHub } from './hub-call.ts';
import { pagesQuery } from './pages-query.ts';

/** How often the pages of agents, repositories and runs read again. */
const FLEET_REFRESH_MS = 4_000;
const PAGE_ROWS = 50;
/** Agents of one repository, and last jobs, on its page. */
const REPOSITORY_ROWS = 10;

export type { Agent, Repository, Run, RunJob } from '@signalbox/contract';
export type RunOverview = ResponseOf<ConsoleRows['runs']['overview']>;

/** A list that is read again while its page is open. */
function fleetPages<Page extends { nextCursor: string | null }>(
  ...list: Parameters<typeof pagesQuery<Page>>
) {
  return { ...pagesQuery(...list), refetchInterval: unlessLive(FLEET_REFRESH_MS) };
}

/** The agents in some statuses, in pages, newest first; and the counts of all statuses. */
export function agentGroupQuery(workspaceId: string, statuses: readonly AgentStatus[]) {
  return fleetPages(['agents', workspaceId, 'group', ...statuses], (page, signal) =>
    callHub(
      'agents',
      'list',
      { workspaceId, statuses: [...statuses], limit: PAGE_ROWS, ...page },
      signal,
    ),
  );
}

export function agentQuery(workspaceId: string, agentId: string) {
  return queryOptions({
    queryKey: ['agents', workspaceId, 'one', agentId],
    queryFn: ({ signal }) => callHub('agents', 'get', { workspaceId, agentId }, signal),
    refetchInterval: unlessLive(FLEET_REFRESH_MS),
  });
}

/** The agents that serve a repository and may work on its jobs. */
export function servingAgentsQuery(workspaceId: string, repoId: string) {
  return queryOptions({
    queryKey: ['agents', workspaceId, 'serving', repoId],
    queryFn: ({ signal }) =>
      callHub(
        'agents',
        'list',
        { workspaceId, repoId, statuses: ['online', 'draining'], limit: REPOSITORY_ROWS },
        signal,
      ),
    refetchInterval: unlessLive(FLEET_REFRESH_MS),
  });
}

/** The people of the workspace, whose machines run agents. */
export function peopleQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['people', workspaceId],
    queryFn: ({ signal }) => callHub('members', 'list', { workspaceId, limit: 200 }, signal),
    staleTime: 60_000,
  });
}

export function repositoryPagesQuery(workspaceId: string) {
  return fleetPages(['repositories', workspaceId, 'pages'], (page, signal) =>
    callHub('repositories', 'list', { workspaceId, limit: PAGE_ROWS, ...page }, signal),
  );
}

export function repositoryQuery(workspaceId: string, repoId: string) {
  return queryOptions({
    queryKey: ['repositories', workspaceId, 'one', repoId],
    queryFn: ({ signal }) => callHub('repositories', 'get', { workspaceId, repoId }, signal),
    refetchInterval: unlessLive(FLEET_REFRESH_MS),
  });
}

export function lastJobsQuery(workspaceId: string, repoId: string) {
  return queryOptions({
    queryKey: ['jobs', workspaceId, 'last', repoId],
    queryFn: ({ signal }) =>
      callHub(
        'jobs',
        'list',
        { workspaceId, repoId, view: 'summary', limit: REPOSITORY_ROWS },
        signal,
      ),
    refetchInterval: unlessLive(FLEET_REFRESH_MS),
  });
}

/** Filters of the list of runs; all are part of the URL. */
export interface RunFilters {
  status?: string;
  repoId?: string;
}

export function runsQuery(workspaceId: string, filters: RunFilters) {
  return fleetPages(['runs', workspaceId, 'pages', filters], (page, signal) =>
    callHub('runs', 'list', { workspaceId, ...filters, limit: PAGE_ROWS, ...page }, signal),
  );
}

/** Whether the workspace has a run: without one, the navigation has no page of them. */
export function hasRunsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['has-runs', workspaceId],
    queryFn: async ({ signal }) => {
      const { runs } = await callHub('runs', 'list', { workspaceId, limit: 1 }, signal);
      return runs.length > 0;
    },
  });
}

export function runQuery(workspaceId: string, runId: string) {
  return queryOptions({
    queryKey: ['runs', workspaceId, 'one', runId],
    queryFn: ({ signal }) => callHub('runs', 'overview', { workspaceId, runId }, signal),
    refetchInterval: unlessLive(FLEET_REFRESH_MS),
  });
}

/** The record of a run, for its title. */
export function runRecordQuery(workspaceId: string, runId: string) {
  return queryOptions({
    queryKey: ['runs', workspaceId, 'record', runId],
    queryFn: ({ signal }) => callHub('runs', 'get', { workspaceId, runId }, signal),
    staleTime: 60_000,
  });
}

export function runGraphQuery(workspaceId: string, runId: string) {
  return queryOptions({
    queryKey: ['runs', workspaceId, 'graph', runId],
    queryFn: ({ signal }) => callHub('runs', 'graph', { workspaceId, runId }, signal),
    refetchInterval: unlessLive(FLEET_REFRESH_MS),
  });
}

export function runDecisionsQuery(workspaceId: string, runId: string) {
  return queryOptions({
    queryKey: ['uncertainties', workspaceId, 'run', runId],
    queryFn: ({ signal }) =>
      callHub(
        'uncertainties',
        'list',
        { workspaceId, runId, view: 'summary', limit: PAGE_ROWS },
        signal,
      ),
    refetchInterval: unlessLive(FLEET_REFRESH_MS),
  });
}

/** The name of an agent; its ID if it has none. */
export function nameOfAgent({ displayName, agentId }: Pick<Agent, 'displayName' | 'agentId'>) {
  return displayName === '' ? agentId : displayName;
}
