import type { ChannelMessage, NotificationChannel } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../../api/hub-call.ts';
import { channelMessagesQuery, notificationChannelsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { Modal } from '../dialog/dialog.tsx';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { MessageState } from '../record/message-state.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';

interface ChannelMessagesProps {
  workspaceId: string;
  channel: NotificationChannel;
  onClose: () => void;
}

/** The last messages by a channel, and how each went. */
export function ChannelMessages({ workspaceId, channel, onClose }: ChannelMessagesProps) {
  const { channelId, name } = channel;
  const { data, error } = useQuery(channelMessagesQuery(workspaceId, channelId));
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Messages by ${plainText(name)}`}
      description="The newest 50 of the last 30 days. A message that is sent again keeps its ID."
    >
      {error && <ErrorNotice error={error} />}
      {data?.messages.length === 0 && <p className="text-sm text-muted">None yet.</p>}
      <ul className="grid divide-y text-sm">
        {data?.messages.map((message) => (
          <MessageRow
            key={message.notificationId}
            workspaceId={workspaceId}
            channelId={channelId}
            message={message}
          />
        ))}
      </ul>
    </Modal>
  );
}

interface MessageRowProps {
  workspaceId: string;
  channelId: string;
  message: ChannelMessage;
}

function MessageRow({ workspaceId, channelId, message }: MessageRowProps) {
  const { notificationId, title, text, state } = message;
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: () =>
      callHub('notificationChannels', 'sendAgain', { workspaceId, channelId, notificationId }),
    onSuccess({ delivered, failure }) {
      if (delivered) showToast({ title: 'The message was accepted' });
      else showToast({ title: 'Not sent', detail: plainText(failure ?? '') });
    },
    onError: (error) => showToast({ title: 'Not sent', detail: error.message }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries(channelMessagesQuery(workspaceId, channelId)),
        client.invalidateQueries(notificationChannelsQuery(workspaceId)),
      ]),
  });
  return (
    <li className="flex items-start justify-between gap-3 py-2">
      <span className="min-w-0 wrap-anywhere">
        <span className="block">{plainText(`${title}: ${text}`)}</span>
        <span className="text-muted">
          <MessageState {...message} />
        </span>
      </span>
      {(state === 'sent' || state === 'failed') && (
        <Button
          busy={again.isPending}
          onClick={() => again.mutate()}
          aria-label={`Send again: ${plainText(text)}`}
        >
          Send again
        </Button>
      )}
    </li>
  );
}
