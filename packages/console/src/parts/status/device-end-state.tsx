import type { DeviceApprovalStatus } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import type { DeviceApproval } from '../../api/session-queries.ts';
import { plainText } from '../../format/text.ts';
import { buttonClasses } from '../form/button.tsx';
import { EndState } from './end-state.tsx';

/** The end states of a request: the hub's statuses, and reasons why it cannot be answered here. */
export type DeviceEnd = DeviceApprovalStatus | 'unknown' | 'elsewhere' | 'no-access';

type Look = Pick<ComponentProps<typeof EndState>, 'icon' | 'tone' | 'title'> & { text: string };

const looks: Readonly<Record<DeviceEnd, Look>> = {
  approved: {
    icon: 'check',
    tone: 'good',
    title: 'The machine is logged in',
    text: 'Return to your terminal; it continues within a few seconds. You can close this page.',
  },
  denied: {
    icon: 'ban',
    tone: 'bad',
    title: 'The request was denied',
    text: 'The machine has no access. If this was a mistake, start the login again in the terminal.',
  },
  expired: {
    icon: 'clock',
    tone: 'neutral',
    title: 'The request has expired',
    text: 'Requests expire after ten minutes. Start the login again in the terminal.',
  },
  pending: {
    icon: 'clock',
    tone: 'neutral',
    title: 'The request is still open',
    text: 'Reload the page to answer it.',
  },
  unknown: {
    icon: 'triangle-alert',
    tone: 'attention',
    title: 'Request not found',
    text: 'The link is incomplete or outdated. Start the login again in the terminal and open its link.',
  },
  elsewhere: {
    icon: 'triangle-alert',
    tone: 'attention',
    title: 'The request was opened in another session',
    text:
      'Only the browser that opened it first can answer it. Answer it there; if that was not you, ' +
      'cancel the login in the terminal and start it again.',
  },
  'no-access': {
    icon: 'triangle-alert',
    tone: 'attention',
    title: 'You cannot approve this request',
    text:
      'You are not a member of a workspace with this slug. Check it in the terminal, or ask an owner of the ' +
      'workspace to add you.',
  },
};

export function DeviceEndState({
  end,
  approval,
}: {
  end: DeviceEnd;
  approval?: DeviceApproval | undefined;
}) {
  const { text, ...look } = looks[end];
  return (
    <EndState {...look}>
      {approval && (
        <p className="font-medium wrap-anywhere text-ink">
          {plainText(approval.machineName ?? 'A machine')} · {plainText(approval.workspaceSlug)}
        </p>
      )}
      <p>{text}</p>
      <p>
        <Link to="/" className={buttonClasses('plain')}>
          Go to the console
        </Link>
      </p>
    </EndState>
  );
}
