import { createRoute } from '@tanstack/react-router';
import { type RunFilters, runGraphQuery, runQuery, runsQuery } from '../api/fleet-queries.ts';
import { repositoriesQuery } from '../api/job-queries.ts';
import { readFirst, readFirstPage } from '../api/read-first.ts';
import { lazyPage } from './lazy-page.ts';
import { workspaceRoute } from './workspace.ts';

const runTabs = ['graph', 'list'] as const;
type RunTab = (typeof runTabs)[number];

const runsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/runs',
  validateSearch: ({ status, repoId }: Record<string, unknown>): RunFilters => ({
    ...(typeof status === 'string' && status !== '' && { status }),
    ...(typeof repoId === 'string' && repoId !== '' && { repoId }),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client, membership }, deps: filters }) => {
    void readFirst(client, repositoriesQuery(membership.workspaceId));
    return readFirstPage(client, runsQuery(membership.workspaceId, filters));
  },
  component: lazyPage(() => import('../pages/runs.tsx'), 'RunsPage'),
});

const runRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/runs/$runId',
  validateSearch: (search: Record<string, unknown>): { tab?: RunTab } => {
    const tab = runTabs.find((each) => each === search.tab);
    return tab === undefined ? {} : { tab };
  },
  loader: ({ context: { client, membership }, params }) => {
    void readFirst(client, runGraphQuery(membership.workspaceId, params.runId));
    return readFirst(client, runQuery(membership.workspaceId, params.runId));
  },
  component: lazyPage(() => import('../pages/run.tsx'), 'RunPage'),
});

export const runRoutes = [runsRoute, runRoute] as const;
