import { jobKinds, jobStatuses } from 'virtual:contract-data';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
} from '@tanstack/react-router';
import type { JobFilters } from './api/job-queries.ts';
import { sessionQuery } from './api/session-queries.ts';
import { safeReturnPath } from './format/return-path.ts';
import { ErrorPage, NotFoundPage } from './pages/problem.tsx';

const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({});

/** Returns the cached session; reads it the first time. */
function readSession(client: QueryClient) {
  return client.query({ ...sessionQuery(), staleTime: 'static' });
}

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { person, workspaces } = await readSession(context.client);
    const first = workspaces[0];
    if (person === null) throw redirect({ to: '/sign-in', replace: true });
    if (first) throw redirect({ to: '/w/$slug/jobs', params: { slug: first.slug }, replace: true });
  },
  component: lazyRouteComponent(() => import('./pages/no-workspace.tsx'), 'NoWorkspacePage'),
});

const firstOwnerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/first-owner',
  component: lazyRouteComponent(() => import('./pages/first-owner.tsx'), 'FirstOwnerPage'),
});

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/invitation.tsx'), 'InvitationPage'),
});

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/reset-password.tsx'), 'ResetPasswordPage'),
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search): { return?: string | undefined } => {
    const path = safeReturnPath(search.return);
    return path === undefined ? {} : { return: path };
  },
  beforeLoad: async ({ context, search }) => {
    const { person } = await readSession(context.client);
    if (person !== null) throw redirect({ href: search.return ?? '/', replace: true });
  },
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignInPage'),
});

/** Guards pages that need a session: redirects to sign-in, and back afterwards. */
async function requireSession(client: QueryClient, href: string) {
  const session = await readSession(client);
  if (session.person === null) {
    throw redirect({ to: '/sign-in', search: { return: href }, replace: true });
  }
  return { person: session.person, workspaces: session.workspaces };
}

const deviceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/device',
  validateSearch: (search): { id: string } => ({
    id: typeof search.id === 'string' ? search.id : '',
  }),
  beforeLoad: ({ context, location }) => requireSession(context.client, location.href),
  component: lazyRouteComponent(() => import('./pages/device.tsx'), 'DevicePage'),
});

/** The parent of all pages of a workspace, which read the membership from its context. */
const workspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/w/$slug',
  beforeLoad: async ({ context, params, location }) => {
    const session = await requireSession(context.client, location.href);
    const membership = session.workspaces.find((each) => each.slug === params.slug);
    if (!membership) throw notFound();
    return { ...session, membership };
  },
  component: lazyRouteComponent(() => import('./pages/shell.tsx'), 'Shell'),
});

const workspaceHomeRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/w/$slug/jobs', params, replace: true });
  },
});

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
  component: lazyRouteComponent(() => import('./pages/jobs.tsx'), 'JobsPage'),
});

const jobRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/jobs/$jobId',
  component: lazyRouteComponent(() => import('./pages/job.tsx'), 'JobPage'),
});

const routeTree = rootRoute.addChildren([
  homeRoute,
  firstOwnerRoute,
  invitationRoute,
  resetPasswordRoute,
  signInRoute,
  deviceRoute,
  workspaceRoute.addChildren([workspaceHomeRoute, jobsRoute, jobRoute]),
]);

/** All pages and their paths. Page code is loaded when a page is first opened. */
export function createConsoleRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
    defaultPreload: 'intent',
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
