import { createRoute, notFound, redirect } from '@tanstack/react-router';
import { ShellSkeleton } from '../shell/shell-skeleton.tsx';
import { lazyPage } from './lazy-page.ts';
import { requireSession, rootRoute } from './root.ts';
import { workspaceHome } from './workspace-home.ts';

const loadShell = () => import('../pages/shell.tsx');

/** The parent of all pages of a workspace, which read the membership from its context. */
export const workspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/w/$slug',
  beforeLoad: async ({ context, params, location }) => {
    // The code is needed in any case, so it loads beside the session. A failure is reported when
    // the component loads it again.
    loadShell().catch(() => undefined);
    const session = await requireSession(context.client, location.href);
    const membership = session.workspaces.find((each) => each.slug === params.slug);
    if (!membership) throw notFound();
    return { ...session, membership };
  },
  component: lazyPage(loadShell, 'Shell'),
  pendingComponent: ShellSkeleton,
});

export const workspaceHomeRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: workspaceHome, params, replace: true });
  },
});
