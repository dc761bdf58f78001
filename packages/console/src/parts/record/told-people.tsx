import type { Notification } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { notificationsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { Fold } from '../page/fold.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { RelativeTime } from '../text/relative-time.tsx';

interface ToldPeopleProps {
  workspaceId: string;
  slug: string;
  uncertaintyId: string;
}

/** Who was told of a question by which channel, and how that went; read when it is unfolded. */
export function ToldPeople(props: ToldPeopleProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Fold title="Who was told" onToggle={setOpen}>
      {isOpen && <ToldList {...props} />}
    </Fold>
  );
}

function ToldList({ workspaceId, slug, uncertaintyId }: ToldPeopleProps) {
  const { data, error } = useQuery(notificationsQuery(workspaceId, uncertaintyId));
  if (error) return <ErrorNotice error={error} />;
  if (data === undefined) return <p className="text-sm text-muted">Reading …</p>;
  if (data.notifications.length === 0) {
    return (
      <p className="text-sm text-muted">
        No message was sent: when it was asked, no member had a channel for questions.{' '}
        <Link
          to="/w/$slug/settings/notifications"
          params={{ slug }}
          className="text-accent underline underline-offset-2"
        >
          Add a channel of yours
        </Link>
        .
      </p>
    );
  }
  return (
    <ul className="grid gap-2 text-sm">
      {data.notifications.map((told) => (
        <li key={`${told.personName} ${told.channelName} ${told.createdAt}`}>
          <span className="font-medium">{plainText(told.personName ?? 'A person who left')}</span>{' '}
          <span className="text-muted">
            by {plainText(told.channelName ?? 'a channel that was removed')}:{' '}
          </span>
          <State told={told} />
        </li>
      ))}
    </ul>
  );
}

function State({ told }: { told: Notification }) {
  const { state, attempts, failure, createdAt, dueAt, endedAt } = told;
  const reason = failure === null ? '' : plainText(failure);
  if (state === 'waiting') {
    if (attempts === 0 && dueAt !== null && dueAt > createdAt) {
      return (
        <span>
          is told <RelativeTime at={dueAt} />, unless it is answered{reason && `. ${reason}`}
        </span>
      );
    }
    return (
      <span>{attempts === 0 ? 'waits to be sent' : `tried ${attempts} times. ${reason}`}</span>
    );
  }
  const words = {
    sent: 'sent',
    settled: 'not sent, because it was answered first',
    failed: `not delivered. ${reason}`,
    skipped: `passed over. ${reason}`,
    seen: 'not sent, because a page showed it',
  };
  return (
    <span>
      {words[state]} <RelativeTime at={endedAt ?? createdAt} />
      {state === 'sent' && reason && `. ${reason}`}
    </span>
  );
}
