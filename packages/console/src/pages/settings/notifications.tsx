import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { AbsenceSection } from '../../parts/settings/absence.tsx';
import { DigestSection } from '../../parts/settings/digest.tsx';
import { NotificationChannels } from '../../parts/settings/notification-channels.tsx';
import { QuietHoursSection } from '../../parts/settings/quiet-hours.tsx';

const workspace = getRouteApi('/w/$slug');

/** Where the person hears of what needs them in this workspace. */
export function NotificationsPage() {
  const { membership, person } = workspace.useRouteContext();
  usePageTitle('Notifications');
  const { workspaceId } = membership;
  const { data } = useQuery(notificationChannelsQuery(workspaceId));
  return (
    <>
      <NotificationChannels workspaceId={workspaceId} email={person.email} />
      {data && <DigestSection workspaceId={workspaceId} hours={data.digestHours} />}
      {data && <QuietHoursSection workspaceId={workspaceId} quietHours={data.quietHours} />}
      {data && <AbsenceSection workspaceId={workspaceId} absentUntil={data.absentUntil} />}
    </>
  );
}
