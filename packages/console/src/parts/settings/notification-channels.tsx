import type { NotificationChannel } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';
import { PasswordField, TextField } from '../form/field.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../form/form-fields.ts';
import { EmptyState } from '../status/empty-state.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { CheckField, SelectInput } from './controls.tsx';
import { Mark, Records, Row, Rows, Section, Sheet } from './section.tsx';
import { ShownOnce } from './shown-once.tsx';

type Kind = NotificationChannel['kind'];
type Event = NotificationChannel['events'][number];

const kindWords: Readonly<Record<Kind, string>> = {
  ntfy: 'ntfy at',
  webhook: 'Webhook at',
  mail: 'Mail to',
};
const eventWords: Readonly<Record<Event, string>> = {
  decision: 'questions',
  job_ended: 'ended jobs',
};

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
  return (
    <Section
      title="Notifications"
      description="Where you hear that a job asks you, or that a job of yours has ended, while no page is open."
      action={
        !isAdding && (
          <Button look="primary" onClick={() => setAdding(true)}>
            Add a channel
          </Button>
        )
      }
    >
      {isAdding && query.data && (
        <ChannelForm
          workspaceId={workspaceId}
          email={email}
          offersMail={query.data.kinds.includes('mail')}
          onCancel={() => setAdding(false)}
          onDone={(secret) => {
            setAdding(false);
            setSigningSecret(secret);
          }}
        />
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
      <Records what="your channels" query={query}>
        {({ channels }) =>
          channels.length === 0 ? (
            <EmptyState
              icon="monitor-smartphone"
              title="No channels yet"
              guide="/docs/guides/notifications"
            >
              Questions wait at the console until somebody looks. Begin with “Add a channel”: a
              topic of ntfy reaches your phone, mail the address of your account, a webhook any
              other program.
            </EmptyState>
          ) : (
            <Rows label="Channels">
              {channels.map((channel) => (
                <ChannelRow key={channel.channelId} workspaceId={workspaceId} channel={channel} />
              ))}
            </Rows>
          )
        }
      </Records>
    </Section>
  );
}

function ChannelRow(props: { workspaceId: string; channel: NotificationChannel }) {
  const { workspaceId, channel } = props;
  const { channelId, kind, host, events, failure, stoppedAt } = channel;
  const client = useQueryClient();
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
          {isStopped && <Mark>stopped</Mark>}
          {!isStopped && failure !== null && <Mark>failing</Mark>}
        </>
      }
      facts={[
        `${kindWords[kind]} ${plainText(host)}`,
        events.map((event) => eventWords[event]).join(', '),
        failure !== null && plainText(failure),
      ]}
      action={
        <span className="flex flex-wrap gap-2">
          <Button busy={test.isPending} onClick={() => test.mutate()} aria-label={`Test ${name}`}>
            Test
          </Button>
          <ConfirmButton label="Remove" of={name} title={`Remove ${name}?`} onConfirm={remove}>
            Messages that wait to be sent by it are given up.
          </ConfirmButton>
        </span>
      }
    />
  );
}

function kindOf(value: string): Kind {
  return value === 'webhook' || value === 'mail' ? value : 'ntfy';
}

interface ChannelFormProps extends NotificationChannelsProps {
  /** Whether the operator has set a mail server. */
  offersMail: boolean;
  onCancel: () => void;
  /** With the signing secret of a webhook. */
  onDone: (signingSecret: string | null) => void;
}

const ntfyKind = { value: 'ntfy', word: 'ntfy (phone)' };
const webhookKind = { value: 'webhook', word: 'Webhook (another program)' };
const mailKind = { value: 'mail', word: 'Mail' };
const NO_MAIL =
  'For mail, the operator of this hub sets SVC_SMTP_URL and SVC_MAIL_FROM and restarts it.';

function ChannelForm({ workspaceId, email, offersMail, onCancel, onDone }: ChannelFormProps) {
  const client = useQueryClient();
  const [hears, setHears] = useState<Readonly<Record<Event, boolean>>>({
    ...{ decision: true, job_ended: false },
  });
  const [showsText, setShowsText] = useState(true);
  const add = useMutation({
    mutationFn: (values: Readonly<Record<'name' | 'kind' | 'url' | 'secret', string>>) =>
      callHub('notificationChannels', 'put', {
        ...{ workspaceId, showsText, name: values.name.trim(), kind: kindOf(values.kind) },
        ...(values.kind !== 'mail' && { url: values.url.trim() }),
        events: (['decision', 'job_ended'] as const).filter((event) => hears[event]),
        ...(values.kind === 'ntfy' && values.secret !== '' && { secret: values.secret }),
      }),
    onSuccess: async ({ signingSecret }) => {
      await client.invalidateQueries(notificationChannelsQuery(workspaceId));
      onDone(signingSecret);
    },
  });
  const fields = useFormFields({
    initial: { kind: 'ntfy', name: '', url: '', secret: '' },
    check: ({ kind, name, url }) =>
      foundFaults({
        name: findEmptyFault(name, 'a name'),
        url:
          kind === 'mail' || /^https?:\/\/./.test(url.trim())
            ? undefined
            : 'Enter an address with https://.',
      }),
    failure: add.error,
    send: (values) => add.mutate(values),
  });
  const isNtfy = fields.values.kind === 'ntfy';
  const isMail = fields.values.kind === 'mail';
  return (
    <Sheet>
      <form {...fields.form} className="grid gap-4 sm:max-w-md">
        {fields.failure && <ErrorNotice error={fields.failure} />}
        <SelectInput
          label="Kind"
          options={[ntfyKind, ...(offersMail ? [mailKind] : []), webhookKind]}
          hint={offersMail ? undefined : NO_MAIL}
          {...fields.bind('kind')}
        />
        <TextField label="Name" hint="Such as Phone." maxLength={100} {...fields.bind('name')} />
        {isMail ? (
          <p className="text-sm">
            To <span className="font-medium break-all">{plainText(email)}</span>, the address of
            your account.
          </p>
        ) : (
          <TextField
            label={isNtfy ? 'Address of the topic' : 'Address of the receiver'}
            hint={
              isNtfy
                ? 'Server and topic, such as https://ntfy.sh/a-long-random-word. Subscribe to it in the app; who knows the topic can read it.'
                : 'It gets a signed POST for each message.'
            }
            autoComplete="off"
            {...fields.bind('url')}
          />
        )}
        {isNtfy && (
          <PasswordField
            label="Access token"
            hint="If the topic is protected. Sealed by the hub, and never shown again."
            autoComplete="off"
            {...fields.bind('secret')}
            required={false}
          />
        )}
        <fieldset className="grid gap-1">
          <legend className="text-sm font-medium">Tell me when</legend>
          <CheckField
            label="A job asks"
            hint="Jobs that you enqueued, those of members without a channel, and for owners what waits too long."
            checked={hears.decision}
            onChange={(decision) => setHears((now) => ({ ...now, decision }))}
          />
          <CheckField
            label="A job of mine is done or failed"
            checked={hears.job_ended}
            onChange={(job_ended) => setHears((now) => ({ ...now, job_ended }))}
          />
        </fieldset>
        <CheckField
          label="Quote questions and titles"
          hint="Locked screens show them. Without it, a message says only that a job asks."
          checked={showsText}
          onChange={setShowsText}
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" busy={add.isPending}>
            Add the channel
          </Button>
          <Button onClick={onCancel}>Cancel</Button>
        </div>
      </form>
    </Sheet>
  );
}
