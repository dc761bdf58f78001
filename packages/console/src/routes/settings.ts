import { createRoute, redirect } from '@tanstack/react-router';
import { contextItemsQuery, uploadsQuery } from '../api/data-queries.ts';
import { readFirst, readFirstPage } from '../api/read-first.ts';
import { rulesQuery } from '../api/rule-queries.ts';
import { sessionsQuery } from '../api/session-queries.ts';
import {
  type AuditFilters,
  auditQuery,
  deviceTokensQuery,
  membersQuery,
  notificationChannelsQuery,
  serviceTokensQuery,
  workspaceSettingsQuery,
} from '../api/settings-queries.ts';
import { eventsQuery, triggerQuery, triggersQuery } from '../api/trigger-queries.ts';
import { readAge } from '../format/job-filters.ts';
import { lazyPage } from './lazy-page.ts';
import { workspaceRoute } from './workspace.ts';

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings',
  component: lazyPage(() => import('../pages/settings.tsx'), 'SettingsPage'),
});

const indexRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/w/$slug/settings/workspace', params, replace: true });
  },
});

const workspaceSettingsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/workspace',
  loader: ({ context: { client, membership } }) =>
    readFirst(client, workspaceSettingsQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/settings/workspace.tsx'), 'WorkspaceSettingsPage'),
});

const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/members',
  loader: ({ context: { client, membership } }) =>
    readFirst(client, membersQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/settings/members.tsx'), 'MembersPage'),
});

const tokensRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tokens',
  loader: ({ context: { client, membership } }) =>
    readFirst(client, serviceTokensQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/settings/tokens.tsx'), 'TokensPage'),
});

const machinesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/machines',
  validateSearch: (search): { of?: 'everybody' } =>
    search.of === 'everybody' ? { of: 'everybody' } : {},
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client, membership }, deps }) =>
    readFirst(client, deviceTokensQuery(membership.workspaceId, deps.of ?? 'me')),
  component: lazyPage(() => import('../pages/settings/machines.tsx'), 'MachinesPage'),
});

const triggersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/triggers',
  loader: ({ context: { client, membership } }) =>
    readFirst(client, triggersQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/settings/triggers.tsx'), 'TriggersPage'),
});

const triggerRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/triggers/$triggerId',
  loader: ({ context: { client, membership }, params }) =>
    readFirst(client, triggerQuery(membership.workspaceId, params.triggerId)),
  component: lazyPage(() => import('../pages/settings/trigger.tsx'), 'TriggerPage'),
});

const eventsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/events',
  loader: ({ context: { client, membership } }) =>
    readFirstPage(client, eventsQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/settings/events.tsx'), 'EventsPage'),
});

const connectionsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/connections',
  component: lazyPage(() => import('../pages/settings/connections.tsx'), 'ConnectionsPage'),
});

/** The tab, and the search of the context. */
const dataRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/data',
  validateSearch: ({ tab, text }: Record<string, unknown>): { tab?: 'uploads'; text?: string } => ({
    ...(tab === 'uploads' && { tab }),
    ...(typeof text === 'string' && text !== '' && { text }),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client, membership }, deps: { tab, text = '' } }) =>
    tab === 'uploads'
      ? readFirstPage(client, uploadsQuery(membership.workspaceId))
      : readFirstPage(client, contextItemsQuery(membership.workspaceId, text)),
  component: lazyPage(() => import('../pages/settings/data.tsx'), 'DataPage'),
});

const rulesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/rules',
  loader: ({ context: { client, membership } }) =>
    readFirst(client, rulesQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/settings/rules.tsx'), 'RulesPage'),
});

const notificationsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/notifications',
  loader: ({ context: { client, membership } }) =>
    readFirst(client, notificationChannelsQuery(membership.workspaceId)),
  component: lazyPage(() => import('../pages/settings/notifications.tsx'), 'NotificationsPage'),
});

const accountRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/account',
  loader: ({ context: { client } }) => readFirst(client, sessionsQuery()),
  component: lazyPage(() => import('../pages/settings/account.tsx'), 'AccountPage'),
});

/** Filters are in the URL; what is no text is dropped. */
function readAuditFilters(search: Record<string, unknown>): AuditFilters {
  const { action, actor, subject } = search;
  const since = readAge(search.since);
  return {
    ...(typeof action === 'string' && action !== '' && { action }),
    ...(typeof actor === 'string' && actor !== '' && { actor }),
    ...(typeof subject === 'string' && subject !== '' && { subject }),
    ...(since && { since }),
  };
}

const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/audit',
  validateSearch: readAuditFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client, membership }, deps }) =>
    readFirstPage(client, auditQuery(membership.workspaceId, deps)),
  component: lazyPage(() => import('../pages/settings/audit.tsx'), 'AuditPage'),
});

export const settingsRoutes = [
  settingsRoute.addChildren([
    indexRoute,
    workspaceSettingsRoute,
    membersRoute,
    tokensRoute,
    machinesRoute,
    triggersRoute,
    triggerRoute,
    eventsRoute,
    connectionsRoute,
    dataRoute,
    rulesRoute,
    notificationsRoute,
    accountRoute,
    auditRoute,
  ]),
] as const;
