import type { NotificationChannel } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';
import { EmptyState } from '../status/empty-state.tsx';
import { ChangeChannelForm, NewChannelForm } from './channel-form.tsx';
import { ChannelMessages } from './channel-messages.tsx';
import { ConnectSlackButton } from './connect-slack-button.tsx';
import { Mark, Records, Row, Rows, Section, Sheet } from './section.tsx';
import { ShownOnce } from './shown-once.tsx';
import { findThisDevice, ThisDeviceButton } from './this-device-button.tsx';

type Kind = NotificationChannel['kind'];
type Event = NotificationChannel['events'][number];

const kindWords: Readonly<Record<Kind, string>> = {
  ntfy: 'ntfy at',
  webhook: 'Webhook at',
  mail: 'Mail to',
  push: 'Push by',
  slack: 'Slack at',
  slack_app: 'Slack, to',
  teams: 'Teams at',
  discord: 'Discord at',
};
const eventWords: Readonly<Record<Event, string>> = {
  decision: 'questions',
  job_ended: 'ended jobs',
  job_waits: 'waiting jobs',
};

const questionWords = {
  all: false,
  risky: 'approvals and risks only',
  not_risky: 'no approvals or risks',
} as const;

interface NotificationChannelsProps {
  workspaceId: string;
  /** The address of the person's account. */
  email: string;
}

/** The channels of the person, with a message to try each. */
export function NotificationChannels({ workspaceId, email }: NotificationChannelsProps) {
  const query = useQuery(notificationChannelsQuery(workspaceId));
  const [isAdding, setAdding] = useState(false);
  const [signingSecret, setSigningSecret] = useState<string | null>(null);
  const [slackCode, setSlackCode] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  return (
    <Section
      title="Notifications"
      description="Where you hear that a job asks you, or that a job of yours has ended, while no page is open."
      action={
        query.data &&
        !isAdding && (
          <span className="flex flex-wrap gap-2">
            <ThisDeviceButton workspaceId={workspaceId} {...query.data} onFault={setFault} />
            {query.data.kinds.includes('slack_app') && (
              <ConnectSlackButton
                workspaceId={workspaceId}
                onCode={setSlackCode}
                onFault={setFault}
              />
            )}
            <Button onClick={() => setAdding(true)}>Add a channel</Button>
          </span>
        )
      }
    >
      {fault !== null && (
        <p role="alert" className="rounded-lg bg-warning-soft px-4 py-3 text-sm">
          {plainText(fault)}
        </p>
      )}
      {isAdding && query.data && (
        <Sheet>
          <NewChannelForm
            workspaceId={workspaceId}
            email={email}
            offersMail={query.data.kinds.includes('mail')}
            onCancel={() => setAdding(false)}
            onDone={(secret) => {
              setAdding(false);
              setSigningSecret(secret);
            }}
          />
        </Sheet>
      )}
      {signingSecret !== null && (
        <ShownOnce
          title="The signing secret of the webhook"
          text={signingSecret}
          onDone={() => setSigningSecret(null)}
        >
          With it the receiver proves that a message comes from this hub (Standard Webhooks). It is
          shown once.
        </ShownOnce>
      )}
      {slackCode !== null && (
        <ShownOnce
          title="Send this in Slack"
          text={`/signalbox connect ${slackCode}`}
          onDone={() => {
            setSlackCode(null);
            void query.refetch();
          }}
        >
          In any conversation. It connects your account once, within ten minutes.
        </ShownOnce>
      )}
      <Records what="your channels" query={query}>
        {({ channels }) => <ChannelRows workspaceId={workspaceId} channels={channels} />}
      </Records>
    </Section>
  );
}

interface ChannelRowsProps {
  workspaceId: string;
  channels: readonly NotificationChannel[];
}

function ChannelRows({ workspaceId, channels }: ChannelRowsProps) {
  const [changedId, setChangedId] = useState<string | null>(null);
  if (channels.length === 0) {
    return (
      <EmptyState
        icon="monitor-smartphone"
        title="No channels yet"
        guide="/docs/guides/notifications"
      >
        Questions wait at the console until somebody looks. Begin with “Notify me on this device”,
        on your phone too. “Add a channel” sends to a topic of ntfy, to the address of your account,
        or by a webhook to your chat or any other program.
      </EmptyState>
    );
  }
  const own = findThisDevice(workspaceId, channels);
  return (
    <Rows label="Channels">
      {channels.map((channel) =>
        channel.channelId === changedId ? (
          <li key={channel.channelId}>
            <ChangeChannelForm
              workspaceId={workspaceId}
              channel={channel}
              onClose={() => setChangedId(null)}
            />
          </li>
        ) : (
          <ChannelRow
            key={channel.channelId}
            workspaceId={workspaceId}
            channel={channel}
            isThisDevice={channel === own}
            onChange={() => setChangedId(channel.channelId)}
          />
        ),
      )}
    </Rows>
  );
}

interface ChannelRowProps {
  workspaceId: string;
  channel: NotificationChannel;
  isThisDevice: boolean;
  onChange: () => void;
}

function ChannelRow({ workspaceId, channel, isThisDevice, onChange }: ChannelRowProps) {
  const { channelId, kind, host, events, failure, stoppedAt } = channel;
  const client = useQueryClient();
  const [isReading, setReading] = useState(false);
  const name = plainText(channel.name);
  const readAgain = () => client.invalidateQueries(notificationChannelsQuery(workspaceId));
  const test = useMutation({
    mutationFn: () => callHub('notificationChannels', 'test', { workspaceId, channelId }),
    onSuccess({ delivered, failure: reason }) {
      if (delivered) showToast({ title: `${name} took the message` });
      else showToast({ title: `${name} did not take it`, detail: plainText(reason ?? '') });
    },
    onError: (error) => showToast({ title: 'Not tested', detail: error.message }),
  });
  const remove = async () => {
    await callHub('notificationChannels', 'remove', { workspaceId, channelId });
    await readAgain();
    showToast({ title: `${name} is removed` });
  };
  const isStopped = stoppedAt !== null;
  return (
    <Row
      title={
        <>
          {name}
          {isThisDevice && <Mark>this device</Mark>}
          {isStopped && <Mark>stopped</Mark>}
          {!isStopped && failure !== null && <Mark>failing</Mark>}
        </>
      }
      facts={[
        `${kindWords[kind]} ${plainText(host)}`,
        events.length === 0 ? 'nothing' : events.map((event) => eventWords[event]).join(', '),
        events.includes('decision') && questionWords[channel.questions],
        events.includes('decision') &&
          channel.afterMinutes > 0 &&
          `after ${channel.afterMinutes} min`,
        channel.showsText ? 'quotes questions' : 'title only',
        failure !== null && plainText(failure),
      ]}
      action={
        <span className="flex flex-wrap gap-2">
          <Button busy={test.isPending} onClick={() => test.mutate()} aria-label={`Test ${name}`}>
            Test
          </Button>
          <Button onClick={() => setReading(true)} aria-label={`Messages by ${name}`}>
            Messages
          </Button>
          {isReading && (
            <ChannelMessages
              workspaceId={workspaceId}
              channel={channel}
              onClose={() => setReading(false)}
            />
          )}
          <Button onClick={onChange} aria-label={`Change ${name}`}>
            Change
          </Button>
          <ConfirmButton label="Remove" of={name} title={`Remove ${name}?`} onConfirm={remove}>
            Messages that wait to be sent by it are given up.
          </ConfirmButton>
        </span>
      }
    />
  );
}
