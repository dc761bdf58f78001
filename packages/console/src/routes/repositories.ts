import { createRoute } from '@tanstack/react-router';
import { repositoryPagesQuery, repositoryQuery } from '../api/fleet-queries.ts';
import { pausesQuery } from '../api/job-queries.ts';
import { readFirst, readFirstPage } from '../api/read-first.ts';
import { lazyPage } from './lazy-page.ts';
import { workspaceRoute } from './workspace.ts';

const repositoriesRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/repositories',
  loader: ({ context: { client, membership } }) =>
    readFirstPage(client, repositoryPagesQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/repositories.tsx'), 'RepositoriesPage'),
});

const repositoryRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/repositories/$repoId',
  loader: ({ context: { client, membership }, params }) => {
    void readFirst(client, pausesQuery(membership.workspaceId));
    return readFirst(client, repositoryQuery(membership.workspaceId, params.repoId));
  },
  component: lazyPage(() => import('../pages/repository.tsx'), 'RepositoryPage'),
});

export const repositoryRoutes = [repositoriesRoute, repositoryRoute] as const;
