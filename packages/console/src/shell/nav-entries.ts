import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { hasRunsQuery } from '../api/fleet-queries.ts';
import type { IconName } from '../parts/page/icon.tsx';

/** A page of the navigation. */
export interface NavEntry {
  word: string;
  icon: IconName;
  /** Below `/w/$slug`. The entry is shown once a route with this path exists. */
  path: string;
  /** `g` and this key open the page. */
  key: string;
  /** Below a line in the sidebar, and under "More" on phones. */
  apart?: true;
}

/** The pages in navigation order. */
const navEntries: readonly NavEntry[] = [
  { word: 'Inbox', icon: 'inbox', path: 'inbox', key: 'i' },
  { word: 'Jobs', icon: 'list-todo', path: 'jobs', key: 'j' },
  { word: 'Runs', icon: 'workflow', path: 'runs', key: 'r' },
  { word: 'Agents', icon: 'bot', path: 'agents', key: 'a' },
  { word: 'Repositories', icon: 'folder-git-2', path: 'repositories', key: 'o' },
  { word: 'Settings', icon: 'settings', path: 'settings', key: 's', apart: true },
];

/** The pages of the settings, in the order of their list. */
export const settingsPages = [
  { to: '/w/$slug/settings/workspace', word: 'Workspace' },
  { to: '/w/$slug/settings/members', word: 'Members' },
  { to: '/w/$slug/settings/tokens', word: 'Service tokens' },
  { to: '/w/$slug/settings/machines', word: 'Machines' },
  { to: '/w/$slug/settings/triggers', word: 'Triggers' },
  { to: '/w/$slug/settings/rules', word: 'Rules' },
  { to: '/w/$slug/settings/events', word: 'Events' },
  { to: '/w/$slug/settings/connections', word: 'Connections' },
  { to: '/w/$slug/settings/data', word: 'Data' },
  { to: '/w/$slug/settings/audit', word: 'Audit log' },
  { to: '/w/$slug/settings/notifications', word: 'Notifications' },
  { to: '/w/$slug/settings/account', word: 'Your account' },
] as const;

/** How many entries the bar of a phone holds beside "More". */
export const PHONE_ENTRIES_MAX = 4;

const workspace = getRouteApi('/w/$slug');

/** The entries whose page exists. Runs are one once the workspace has a run. */
export function useNavEntries(): readonly NavEntry[] {
  const { routesByPath } = useRouter();
  const { membership } = workspace.useRouteContext();
  const { data: hasRuns = false } = useQuery(hasRunsQuery(membership.workspaceId));
  return navEntries.filter(
    ({ path }) => `/w/$slug/${path}` in routesByPath && (path !== 'runs' || hasRuns),
  );
}
