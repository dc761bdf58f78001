import type { DeviceApprovalStatus } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { hasCode } from '../api/hub-error.ts';
import { deviceApprovalQuery } from '../api/session-queries.ts';
import { DeviceAnswerForm } from '../parts/form/device-answer-form.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { DeviceEndState } from '../parts/status/device-end-state.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { Loading } from '../parts/status/loading.tsx';
import { useNow } from '../parts/text/relative-time.tsx';

const route = getRouteApi('/device');

/** A login request of a machine: its details and the answer. */
export function DevicePage() {
  usePageTitle('Log in this machine');
  return (
    <CardPage>
      <DeviceApproval deviceId={route.useSearch().id} />
    </CardPage>
  );
}

function DeviceApproval({ deviceId }: { deviceId: string }) {
  const approval = useQuery(deviceApprovalQuery(deviceId));
  const [answered, setAnswered] = useState<DeviceApprovalStatus>();
  const expiresAt = approval.data?.expiresAt;
  const timeIsUp = useNow((nowMs) => expiresAt !== undefined && Date.parse(expiresAt) <= nowMs);

  if (answered !== undefined) return <DeviceEndState end={answered} approval={approval.data} />;
  if (deviceId === '' || hasCode(approval.error, 'DEVICE_SESSION_NOT_FOUND')) {
    return <DeviceEndState end="unknown" />;
  }
  if (hasCode(approval.error, 'DEVICE_OPENED_ELSEWHERE')) return <DeviceEndState end="elsewhere" />;
  if (approval.isPending) return <Loading what="the request" />;
  if (approval.data === undefined) return <ErrorNotice error={approval.error} />;

  const { status, workspaceName } = approval.data;
  if (status !== 'pending') return <DeviceEndState end={status} approval={approval.data} />;
  if (timeIsUp) return <DeviceEndState end="expired" approval={approval.data} />;
  if (workspaceName === null) return <DeviceEndState end="no-access" approval={approval.data} />;
  return <DeviceAnswerForm approval={approval.data} onAnswer={setAnswered} />;
}
