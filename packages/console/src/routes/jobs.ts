import { jobKinds, jobStatuses } from 'virtual:contract-data';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import {
  type JobFilters,
  jobCountsQuery,
  jobQuery,
  jobsQuery,
  repositoriesQuery,
} from '../api/job-queries.ts';
import { readFirst, readFirstPage } from '../api/read-first.ts';
import { workspaceRoute } from './workspace.ts';

/** Filters are in the URL, so that a view can be shared; unknown values are dropped. */
function readJobFilters(search: Record<string, unknown>): JobFilters {
  const status = jobStatuses.find((each) => each === search.status);
  const kind = jobKinds.find((each) => each === search.kind);
  return { ...(status && { status }), ...(kind && { kind }) };
}

const jobsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/jobs',
  validateSearch: readJobFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client, membership }, deps }) => {
    void readFirst(client, jobCountsQuery(membership.workspaceId));
    void readFirst(client, repositoriesQuery(membership.workspaceId));
    return readFirstPage(client, jobsQuery(membership.workspaceId, deps));
  },
  component: lazyRouteComponent(() => import('../pages/jobs.tsx'), 'JobsPage'),
});

const jobRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/jobs/$jobId',
  loader: ({ context: { client, membership }, params }) =>
    readFirst(client, jobQuery(membership.workspaceId, params.jobId)),
  component: lazyRouteComponent(() => import('../pages/job.tsx'), 'JobPage'),
});

export const jobRoutes = [jobsRoute, jobRoute] as const;
