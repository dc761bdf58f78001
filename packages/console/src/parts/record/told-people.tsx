import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { notificationsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { Fold } from '../page/fold.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { MessageState } from './message-state.tsx';

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
          Add your channel
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
          <MessageState {...told} />
        </li>
      ))}
    </ul>
  );
}
