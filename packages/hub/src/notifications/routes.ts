import { channelKinds, consoleEndpoints, type Notification } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import { personIdOf } from '../base/principal.ts';
import type { Api } from '../http/bind.ts';
import { type PersonName, readPerson, readPersonNames } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { SlackApp, SmtpServer } from '../start/setting-values.ts';
import { requireUncertainty } from '../uncertainties/require-uncertainty.ts';
import { absentUntilOf, setAbsence } from './absence.ts';
import { listOwnChannels, removeChannel, requireOwn, saveChannel } from './channels.ts';
import { setDigest } from './digest.ts';
import { listOwnMessages, sendOwnAgain } from './own-messages.ts';
import { quietHoursOf, setQuietHours } from './quiet-hours.ts';
import type { NotificationSender } from './sender.ts';
import { type ChannelRow, listChannels, listOfSubject, type NotificationRow } from './store.ts';
import { reportPage } from './visible-pages.ts';

/** Binds the console's endpoints for the channels of people, and for what they were told. */
export function bindNotificationRoutes(
  api: Api,
  deps: HubDeps & {
    notifications: NotificationSender;
    smtp: SmtpServer | null;
    slack: SlackApp | null;
  },
): void {
  const { notificationChannels, notifications } = consoleEndpoints;
  const { reader } = deps.database;
  api.bind(notificationChannels.list, async ({ workspaceId }, { principal }) => {
    const channels = await listOwnChannels(deps, principal, workspaceId);
    const person = await readPerson(reader, personIdOf(principal));
    if (person === undefined) throw new HubError('SESSION_REQUIRED');
    return {
      channels,
      kinds: channelKinds.filter((kind) => canSend(kind, deps)),
      quietHours: quietHoursOf(person),
      absentUntil: absentUntilOf(person, deps.clock.nowMs()),
      digestHours: person.digest_hours,
      pushKey: deps.notifications.pushKey,
    };
  });
  api.bind(notificationChannels.put, (input, { principal }) => saveChannel(deps, principal, input));
  api.bind(notificationChannels.remove, async (input, { principal }) => {
    await removeChannel(deps, principal, input);
    return { removed: true as const };
  });
  api.bind(notificationChannels.test, async (input, { principal }) => {
    const { workspaceId } = input;
    const act = 'notification.manage-own';
    const { personId } = await requireAct(reader, principal, workspaceId, act);
    const channel = await requireOwn(reader, personId, input);
    const delivery = await deps.notifications.attempt(channel, testMessage(deps), 'inbox');
    return delivery.kind === 'delivered'
      ? { delivered: true, failure: null }
      : { delivered: false, failure: delivery.failure };
  });
  api.bind(notificationChannels.messages, async (input, { principal }) => ({
    messages: await listOwnMessages(deps, principal, input),
  }));
  api.bind(notificationChannels.sendAgain, async (input, { principal }) => {
    const failure = await sendOwnAgain(deps, principal, input);
    return { delivered: failure === null, failure };
  });
  api.bind(notifications.setQuietHours, async ({ quietHours }, { principal }) => ({
    quietHours: await setQuietHours(deps, principal, quietHours),
  }));
  api.bind(notifications.setAbsence, async ({ absentUntil }, { principal }) => ({
    absentUntil: await setAbsence(deps, principal, absentUntil),
  }));
  api.bind(notifications.setDigest, async ({ hours }, { principal }) => ({
    digestHours: await setDigest(deps, principal, hours),
  }));
  api.bind(notifications.reportPage, async (input, { principal }) => ({
    seen: await reportPage(deps, principal, input),
  }));
  api.bind(notifications.list, async ({ workspaceId, uncertaintyId }, { principal }) => {
    await requireAct(reader, principal, workspaceId, 'workspace.read');
    await requireUncertainty(reader, principal, workspaceId, uncertaintyId);
    const [rows, channels] = await Promise.all([
      listOfSubject(reader, workspaceId, uncertaintyId),
      listChannels(reader, workspaceId),
    ]);
    const names = await readPersonNames(reader, [...new Set(rows.map((row) => row.person_id))]);
    const byId = new Map(channels.map((channel) => [channel.channel_id, channel]));
    return {
      notifications: rows.map((row) =>
        presentNotification(row, byId.get(row.channel_id), names.get(row.person_id)),
      ),
    };
  });
}

function canSend(
  kind: ChannelRow['kind'],
  { smtp, slack }: { smtp: SmtpServer | null; slack: SlackApp | null },
): boolean {
  if (kind === 'mail') return smtp !== null;
  return kind !== 'slack_app' || slack !== null;
}

function testMessage({ ids, clock }: HubDeps) {
  return {
    id: ids('notification'),
    event: 'test' as const,
    atMs: clock.nowMs(),
    title: 'Signalbox reaches you',
    text: 'Questions and results will come this way.',
    answer: null,
  };
}

function presentNotification(
  row: NotificationRow,
  channel: ChannelRow | undefined,
  person: PersonName | undefined,
): Notification {
  return {
    personName: person?.name ?? null,
    channelName: channel?.name ?? null,
    kind: channel?.kind ?? null,
    state: row.state,
    attempts: row.attempts,
    failure: row.failure,
    createdAt: timestampOf(row.created_at),
    // Of one that was sent, it is the time of an edit.
    dueAt: nullableTimestampOf(row.state === 'waiting' ? row.due_at : null),
    endedAt: nullableTimestampOf(row.ended_at),
  };
}
