import type { Notification } from '@signalbox/contract';
import { plainText } from '../../format/text.ts';
import { RelativeTime } from '../text/relative-time.tsx';

type MessageStateProps = Pick<
  Notification,
  'state' | 'attempts' | 'failure' | 'createdAt' | 'dueAt' | 'endedAt'
>;

/** How a message went. */
export function MessageState(props: MessageStateProps) {
  const { state, attempts, failure, createdAt, dueAt, endedAt } = props;
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
