import { getRouteApi } from '@tanstack/react-router';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { NotificationChannels } from '../../parts/settings/notification-channels.tsx';

const workspace = getRouteApi('/w/$slug');

/** Where the person hears of what needs them in this workspace. */
export function NotificationsPage() {
  const { membership, person } = workspace.useRouteContext();
  usePageTitle('Notifications');
  return <NotificationChannels workspaceId={membership.workspaceId} email={person.email} />;
}
