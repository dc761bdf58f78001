import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { ErrorPage, NotFoundPage } from './pages/problem.tsx';
import { PageSkeleton } from './parts/status/skeleton.tsx';
import { agentRoutes } from './routes/agents.ts';
import { guestRoutes } from './routes/guest.ts';
import { inboxRoutes } from './routes/inbox.ts';
import { jobRoutes } from './routes/jobs.ts';
import { repositoryRoutes } from './routes/repositories.ts';
import { rootRoute } from './routes/root.ts';
import { runRoutes } from './routes/runs.ts';
import { settingsRoutes } from './routes/settings.ts';
import { workspaceHomeRoute, workspaceRoute } from './routes/workspace.ts';

/** A page that is loading shows its skeleton after this time, so that fast ones do not flicker. */
const SKELETON_AFTER_MS = 200;
/** A skeleton that is shown stays this long, for the same reason. */
const SKELETON_MS_MIN = 250;

const routeTree = rootRoute.addChildren([
  ...guestRoutes,
  workspaceRoute.addChildren([
    workspaceHomeRoute,
    ...inboxRoutes,
    ...jobRoutes,
    ...runRoutes,
    ...agentRoutes,
    ...repositoryRoutes,
    ...settingsRoutes,
  ]),
]);

/** All pages and their paths. Page code is loaded when a page is first opened. */
export function createConsoleRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
    defaultPreload: 'intent',
    // Loaders read through the query cache, which knows what is fresh.
    defaultPreloadStaleTime: 0,
    defaultPendingMs: SKELETON_AFTER_MS,
    defaultPendingMinMs: SKELETON_MS_MIN,
    defaultPendingComponent: PageSkeleton,
    defaultNotFoundComponent: NotFoundPage,
    defaultErrorComponent: ErrorPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
