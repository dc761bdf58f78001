import type { DeviceApprovalStatus } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import type { DeviceApproval } from '../api/session-queries.ts';
import { plainText } from '../format/text.ts';
import { buttonClasses } from './button.tsx';
import { EndState } from './end-state.tsx';

/** How a request can end on the page: the hub's statuses, and why it cannot be answered here. */
export type DeviceEnd = DeviceApprovalStatus | 'unknown' | 'elsewhere' | 'no-access';

type Look = Pick<ComponentProps<typeof EndState>, 'icon' | 'tone' | 'title'> & { text: string };

const looks: Readonly<Record<DeviceEnd, Look>> = {
  approved: {
    icon: 'check',
    tone: 'good',
    title: 'The machine is logged in',
    text: 'Go back to your terminal: it goes on by itself within a few seconds. You can close this page.',
  },
  denied: {
    icon: 'ban',
    tone: 'bad',
    title: 'The request was denied',
    text: 'The machine got no access. If that was a mistake, start the login again in the terminal.',
  },
  expired: {
    icon: 'circle',
    tone: 'neutral',
    title: 'The request has expired',
    text: 'Requests live for ten minutes. Start the login again in the terminal.',
  },
  pending: {
    icon: 'circle',
    tone: 'neutral',
    title: 'The request is still open',
    text: 'Reload the page to answer it.',
  },
  unknown: {
    icon: 'alert',
    tone: 'attention',
    title: 'There is no such request',
    text: 'The link is incomplete or too old. Start the login again in the terminal, and open its link.',
  },
  elsewhere: {
    icon: 'alert',
    tone: 'attention',
    title: 'The request was opened in another session',
    text:
      'Only the browser that opened it first can answer it. Answer it there; if that was not you, ' +
      'stop the login in the terminal and start it again.',
  },
  'no-access': {
    icon: 'alert',
    tone: 'attention',
    title: 'You cannot approve this request',
    text:
      'No workspace of yours has this slug. Check it in the terminal, or ask an owner of the ' +
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
