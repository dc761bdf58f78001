import { createRoute } from '@tanstack/react-router';
import { jobPagesQuery } from '../api/job-pages.ts';
import {
  agentsQuery,
  jobCountsQuery,
  jobQuery,
  openQuestionsQuery,
  pausesQuery,
  repositoriesQuery,
  runChoicesQuery,
} from '../api/job-queries.ts';
import { readFirst, readFirstPage } from '../api/read-first.ts';
import { hasGroups, readJobFilters } from '../format/job-filters.ts';
import { readJobSearch } from '../format/job-tabs.ts';
import { flatListOf, groupedJobsQuery } from '../job-list/use-job-list.ts';
import { lazyPage } from './lazy-page.ts';
import { workspaceRoute } from './workspace.ts';

const jobsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/jobs',
  validateSearch: readJobFilters,
  loaderDeps: ({ search }) => search,
  // Waits for nothing: the page has its filters at once, and rows of true height for its list.
  loader: ({ context: { client, membership }, deps: filters }) => {
    const { workspaceId } = membership;
    if (hasGroups(filters)) {
      void readFirst(client, groupedJobsQuery(workspaceId, filters));
    } else void readFirstPage(client, jobPagesQuery(flatListOf(workspaceId, filters)));
    void readFirst(client, jobCountsQuery(workspaceId, filters));
    void readFirst(client, pausesQuery(workspaceId));
    void readFirst(client, repositoriesQuery(workspaceId));
    void readFirst(client, agentsQuery(workspaceId));
  },
  component: lazyPage(() => import('../pages/jobs.tsx'), 'JobsPage'),
});

const newJobRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/jobs/new',
  validateSearch: (search): { from?: string } =>
    typeof search.from === 'string' && search.from !== '' ? { from: search.from } : {},
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { client, membership }, deps: { from } }) => {
    const { workspaceId } = membership;
    void readFirst(client, pausesQuery(workspaceId));
    void readFirst(client, runChoicesQuery(workspaceId));
    await Promise.all([
      readFirst(client, repositoriesQuery(workspaceId)),
      from !== undefined && readFirst(client, jobQuery(workspaceId, from)),
    ]);
  },
  component: lazyPage(() => import('../pages/new-job.tsx'), 'NewJobPage'),
});

const jobRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/jobs/$jobId',
  validateSearch: readJobSearch,
  loader: ({ context: { client, membership }, params: { jobId } }) => {
    void readFirst(client, openQuestionsQuery(membership.workspaceId, jobId));
    return readFirst(client, jobQuery(membership.workspaceId, jobId));
  },
  component: lazyPage(() => import('../pages/job.tsx'), 'JobPage'),
});

export const jobRoutes = [jobsRoute, newJobRoute, jobRoute] as const;
