import type { NotificationChannel } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../../api/hub-call.ts';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { describeBrowser } from '../../format/user-agent.ts';
import { readOwnChannel, storeOwnChannel, subscribe } from '../../push/this-device.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';

interface ThisDeviceButtonProps {
  workspaceId: string;
  /** The public key of the hub. */
  pushKey: string;
  channels: readonly NotificationChannel[];
  /** With a sentence where this browser cannot be told; with null before each attempt. */
  onFault: (fault: string | null) => void;
}

/** Has this browser notify the person; hidden while it does. */
export function ThisDeviceButton(props: ThisDeviceButtonProps) {
  const { workspaceId, pushKey, channels, onFault } = props;
  const client = useQueryClient();
  const known = findThisDevice(workspaceId, channels);
  const add = useMutation({
    mutationFn: async () => {
      const subscription = await subscribe(pushKey);
      if ('fault' in subscription) return subscription.fault;
      // A locked screen shows no question unless the person chooses it.
      const first = {
        events: ['decision' as const],
        questions: 'all' as const,
        showsText: false,
        afterMinutes: 0,
      };
      const { name, events, questions, afterMinutes, showsText } = known ?? {
        name: describeBrowser(navigator.userAgent),
        ...first,
      };
      const choices = { name, events, questions, afterMinutes, showsText };
      const settings = { workspaceId, kind: 'push' as const, ...choices };
      const { channel } = await callHub('notificationChannels', 'put', {
        ...settings,
        ...subscription,
      });
      storeOwnChannel(workspaceId, channel.channelId);
      await client.invalidateQueries(notificationChannelsQuery(workspaceId));
      showToast({ title: 'This device gets messages from now on' });
      return null;
    },
    onMutate: () => onFault(null),
    onSuccess: onFault,
    onError: (error) => onFault(error.message),
  });
  if (known !== undefined && known.stoppedAt === null) return null;
  return (
    <Button look="primary" busy={add.isPending} onClick={() => add.mutate()}>
      Notify me on this device
    </Button>
  );
}

/** The channel that is this browser. */
export function findThisDevice(
  workspaceId: string,
  channels: readonly NotificationChannel[],
): NotificationChannel | undefined {
  const own = readOwnChannel(workspaceId);
  return channels.find(({ channelId }) => channelId === own);
}
