import type { NotificationChannel } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { PasswordField, TextField } from '../form/field.tsx';
import { FieldsForm } from '../form/fields-form.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../form/form-fields.ts';
import { CheckField, SelectInput } from './controls.tsx';

type Event = NotificationChannel['events'][number];
/** The kinds that a person adds by a form. */
type EnteredKind = Exclude<NotificationChannel['kind'], 'push' | 'slack_app'>;
/** The choices of a person for a channel of any kind. */
type Choices = Pick<NotificationChannel, 'events' | 'questions' | 'afterMinutes' | 'showsText'>;

/** Of a new channel that a person enters. */
const firstChoices: Choices = {
  events: ['decision'],
  questions: 'all',
  afterMinutes: 0,
  showsText: true,
};

function kindOf(value: string): EnteredKind {
  return kindOptions.find((one) => one.value === value)?.value ?? 'ntfy';
}

interface NewChannelFormProps {
  workspaceId: string;
  /** The address of the person's account. */
  email: string;
  /** Whether the operator has set a mail server. */
  offersMail: boolean;
  onCancel: () => void;
  /** With the signing secret of a webhook. */
  onDone: (signingSecret: string | null) => void;
}

const kindOptions: readonly { value: EnteredKind; word: string }[] = [
  { value: 'ntfy', word: 'ntfy (phone)' },
  { value: 'mail', word: 'Mail' },
  { value: 'slack', word: 'Slack (incoming webhook)' },
  { value: 'teams', word: 'Microsoft Teams' },
  { value: 'discord', word: 'Discord' },
  { value: 'webhook', word: 'Webhook (another program)' },
];
const NO_MAIL =
  'For mail, the operator of this hub sets SVC_SMTP_URL and SVC_MAIL_FROM and restarts it.';

/** Adds a channel of a kind that has an address. */
export function NewChannelForm(props: NewChannelFormProps) {
  const { workspaceId, email, offersMail, onCancel, onDone } = props;
  const client = useQueryClient();
  const [choices, setChoices] = useState(firstChoices);
  const add = useMutation({
    mutationFn: (values: Readonly<Record<'name' | 'kind' | 'url' | 'secret', string>>) =>
      callHub('notificationChannels', 'put', {
        workspaceId,
        ...choices,
        name: values.name.trim(),
        kind: kindOf(values.kind),
        ...(values.kind !== 'mail' && { url: values.url.trim() }),
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
    act: add,
    send: (values) => add.mutate(values),
  });
  const kind = kindOf(fields.values.kind);
  return (
    <FieldsForm fields={fields} submit="Add the channel" onCancel={onCancel}>
      <SelectInput
        label="Kind"
        options={kindOptions.filter(({ value }) => value !== 'mail' || offersMail)}
        hint={offersMail ? undefined : NO_MAIL}
        {...fields.bind('kind')}
      />
      <TextField label="Name" hint="Such as Phone." maxLength={100} {...fields.bind('name')} />
      {kind === 'mail' ? (
        <p className="text-sm">
          To <span className="font-medium break-all">{plainText(email)}</span>, the address of your
          account.
        </p>
      ) : (
        <TextField {...addressWords[kind]} autoComplete="off" {...fields.bind('url')} />
      )}
      {kind === 'ntfy' && (
        <PasswordField
          label="Access token"
          hint="If the topic is protected. The hub stores it encrypted, and never shows it again."
          autoComplete="off"
          {...fields.bind('secret')}
          required={false}
        />
      )}
      <ChoiceFields choices={choices} onChange={setChoices} />
    </FieldsForm>
  );
}

const addressWords = {
  ntfy: {
    label: 'Address of the topic',
    hint: 'Server and topic, such as https://ntfy.sh/a-long-random-word. Subscribe to it in the app. Anybody who knows the topic can read it.',
  },
  webhook: {
    label: 'Address of the receiver',
    hint: 'It gets a signed POST for each message.',
  },
  slack: {
    label: 'Incoming webhook',
    hint: 'Of a Slack app, such as https://hooks.slack.com/services/… Mattermost and Rocket.Chat take the same messages.',
  },
  teams: {
    label: 'Address of the workflow',
    hint: 'Of the workflow “Send webhook alerts to a channel” or “to a chat”.',
  },
  discord: {
    label: 'Address of the webhook',
    hint: 'Of the integrations of a channel, such as https://discord.com/api/webhooks/…',
  },
};

interface ChangeChannelFormProps {
  workspaceId: string;
  channel: NotificationChannel;
  onClose: () => void;
}

/** Changes what a channel of any kind tells; its address stays. */
export function ChangeChannelForm({ workspaceId, channel, onClose }: ChangeChannelFormProps) {
  const { channelId, kind } = channel;
  const client = useQueryClient();
  const [choices, setChoices] = useState<Choices>(channel);
  const change = useMutation({
    mutationFn: (name: string) => {
      const { events, questions, afterMinutes, showsText } = choices;
      const settings = { kind, name: name.trim(), events, questions, afterMinutes, showsText };
      return callHub('notificationChannels', 'put', { workspaceId, channelId, ...settings });
    },
    onSuccess: async () => {
      await client.invalidateQueries(notificationChannelsQuery(workspaceId));
      onClose();
    },
  });
  const fields = useFormFields({
    initial: { name: channel.name },
    check: ({ name }) => foundFaults({ name: findEmptyFault(name, 'a name') }),
    act: change,
    send: ({ name }) => change.mutate(name),
  });
  return (
    <FieldsForm
      fields={fields}
      className="px-3 py-4 sm:max-w-md sm:px-4"
      submit="Save"
      onCancel={onClose}
    >
      <TextField label="Name" maxLength={100} {...fields.bind('name')} />
      <ChoiceFields choices={choices} onChange={setChoices} />
    </FieldsForm>
  );
}

const questionOptions: readonly { value: Choices['questions']; word: string }[] = [
  { value: 'all', word: 'All' },
  { value: 'risky', word: 'Approvals and risks' },
  { value: 'not_risky', word: 'All but approvals and risks' },
];

function questionsOf(value: string): Choices['questions'] {
  return questionOptions.find((one) => one.value === value)?.value ?? 'all';
}

const delays = [0, 2, 5, 15, 60];

function delayOptions(chosen: number): { value: string; word: string }[] {
  const known = delays.includes(chosen) ? delays : [...delays, chosen];
  return known.map((minutes) => ({
    value: String(minutes),
    word: minutes === 0 ? 'Immediately' : `After ${minutes} min, if still open`,
  }));
}

interface ChoiceFieldsProps {
  choices: Choices;
  onChange: (choices: Choices) => void;
}

function ChoiceFields({ choices, onChange }: ChoiceFieldsProps) {
  const hear = (event: Event) => (hears: boolean) =>
    onChange({
      ...choices,
      events: [...choices.events.filter((one) => one !== event), ...(hears ? [event] : [])],
    });
  return (
    <>
      <fieldset className="grid gap-1">
        <legend className="text-sm font-medium">Tell me when</legend>
        <CheckField
          label="A job asks"
          hint="Jobs that you enqueued, those of members without a channel and, for owners, what waits too long."
          checked={choices.events.includes('decision')}
          onChange={hear('decision')}
        />
        <CheckField
          label="A job of mine is done or failed"
          checked={choices.events.includes('job_ended')}
          onChange={hear('job_ended')}
        />
        <CheckField
          label="No agent can take a job of mine"
          hint="After 10 minutes, and also later, if its agent is lost."
          checked={choices.events.includes('job_waits')}
          onChange={hear('job_waits')}
        />
      </fieldset>
      {choices.events.includes('decision') && (
        <>
          <SelectInput
            label="Questions"
            options={questionOptions}
            value={choices.questions}
            onChange={({ target }) =>
              onChange({ ...choices, questions: questionsOf(target.value) })
            }
          />
          <SelectInput
            label="They come"
            options={delayOptions(choices.afterMinutes)}
            value={String(choices.afterMinutes)}
            onChange={({ target }) => onChange({ ...choices, afterMinutes: Number(target.value) })}
          />
        </>
      )}
      <CheckField
        label="Quote questions and titles"
        hint="They appear on locked screens. Without this, a message says only that a job asks."
        checked={choices.showsText}
        onChange={(showsText) => onChange({ ...choices, showsText })}
      />
    </>
  );
}
