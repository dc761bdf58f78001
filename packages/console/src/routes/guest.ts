import { createRoute, redirect } from '@tanstack/react-router';
import { safeReturnPath } from '../format/return-path.ts';
import { lazyPage } from './lazy-page.ts';
import { readSession, requireSession, rootRoute } from './root.ts';
import { workspaceHome } from './workspace-home.ts';

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { person, workspaces, workspaceRefusal } = await readSession(context.client);
    const first = workspaces[0];
    if (person === null) throw redirect({ to: '/sign-in', replace: true });
    if (first) throw redirect({ to: workspaceHome, params: { slug: first.slug }, replace: true });
    return { workspaceRefusal };
  },
  component: lazyPage(() => import('../pages/no-workspace.tsx'), 'NoWorkspacePage'),
});

const firstOwnerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/first-owner',
  component: lazyPage(() => import('../pages/first-owner.tsx'), 'FirstOwnerPage'),
});

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyPage(() => import('../pages/invitation.tsx'), 'InvitationPage'),
});

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: lazyPage(() => import('../pages/reset-password.tsx'), 'ResetPasswordPage'),
});

const signInLinkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in-link',
  component: lazyPage(() => import('../pages/sign-in-link.tsx'), 'SignInLinkPage'),
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
  component: lazyPage(() => import('../pages/sign-in.tsx'), 'SignInPage'),
});

const deviceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/device',
  validateSearch: (search): { id: string } => ({
    id: typeof search.id === 'string' ? search.id : '',
  }),
  beforeLoad: ({ context, location }) => requireSession(context.client, location.href),
  component: lazyPage(() => import('../pages/device.tsx'), 'DevicePage'),
});

const allowAssistantRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/allow-assistant',
  beforeLoad: ({ context, location }) => requireSession(context.client, location.href),
  component: lazyPage(() => import('../pages/allow-assistant.tsx'), 'AllowAssistantPage'),
});

const newWorkspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/new-workspace',
  beforeLoad: ({ context, location }) => requireSession(context.client, location.href),
  component: lazyPage(() => import('../pages/new-workspace.tsx'), 'NewWorkspacePage'),
});

/** The pages outside a workspace. */
export const guestRoutes = [
  homeRoute,
  firstOwnerRoute,
  invitationRoute,
  resetPasswordRoute,
  signInRoute,
  signInLinkRoute,
  deviceRoute,
  allowAssistantRoute,
  newWorkspaceRoute,
] as const;
