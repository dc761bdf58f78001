import { createRoute } from '@tanstack/react-router';
import { decisionQuery, decisionsQuery, type InboxFilters } from '../api/decision-queries.ts';
import { repositoriesQuery } from '../api/job-queries.ts';
import { readFirst, readFirstPage } from '../api/read-first.ts';
import { lazyPage } from './lazy-page.ts';
import { workspaceRoute } from './workspace.ts';

/** Filters are in the URL, so that a view can be shared; unknown values are dropped. */
function readInboxFilters(search: Record<string, unknown>): InboxFilters {
  const { show, mine, repo, run } = search;
  return {
    ...(show === 'answered' && { show }),
    ...(mine === true && { mine }),
    ...(typeof repo === 'string' && { repo }),
    ...(typeof run === 'string' && { run }),
  };
}

/** The list stays beside the question on wide windows, so it is the parent of both pages. */
const inboxRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/inbox',
  validateSearch: readInboxFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client, membership }, deps }) => {
    void readFirst(client, repositoriesQuery(membership.workspaceId));
    return readFirstPage(client, decisionsQuery(membership.workspaceId, deps));
  },
  component: lazyPage(() => import('../pages/inbox.tsx'), 'InboxPage'),
});

const decisionRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: '$uncertaintyId',
  loader: ({ context: { client, membership }, params }) =>
    readFirst(client, decisionQuery(membership.workspaceId, params.uncertaintyId)),
});

export const inboxRoutes = [inboxRoute.addChildren([decisionRoute])] as const;
