import { randomBytes } from 'node:crypto';
import {
  CHANNELS_MAX,
  type consoleEndpoints,
  type NotificationChannel,
  type RequestInput,
} from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { readPerson } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { SmtpServer } from '../start/setting-values.ts';
import {
  type ChannelRow,
  deleteChannel,
  endWaiting,
  listChannels,
  putChannel,
  readChannel,
} from './store.ts';
import {
  type ChannelTarget,
  type HttpKind,
  openTarget,
  type PushTarget,
  type SealedTarget,
  sealTarget,
} from './target.ts';
import { passQuestionsOn } from './turns.ts';
import { arePushKeys } from './web-push.ts';

type PutInput = RequestInput<typeof consoleEndpoints.notificationChannels.put.request>;
interface ChannelDeps extends Pick<HubDeps, 'database' | 'ids' | 'secretKey'> {
  smtp: SmtpServer | null;
}

/** The signing secret of a webhook has as many bytes as its HMAC needs. */
const SIGNING_BYTES = 24;

/**
 * Adds a channel of the person, or replaces its settings. A channel that was stopped works again.
 *
 * @returns the signing secret of a new webhook.
 * @throws HubError WORKSPACE_NOT_FOUND, CHANNEL_NOT_FOUND, INVALID_REQUEST, LIMIT_REACHED
 */
export async function saveChannel(
  { database, ids, secretKey, smtp }: ChannelDeps,
  principal: Principal,
  input: PutInput,
): Promise<{ channel: NotificationChannel; signingSecret: string | null }> {
  const { workspaceId, kind, name, events } = input;
  return await database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'notification.manage-own');
    const known =
      input.channelId === undefined
        ? await findBrowser(tx, personId, input, secretKey)
        : await requireOwn(tx, personId, input);
    if (known === undefined) await requireRoom(tx, workspaceId, personId);
    const place = {
      workspace_id: workspaceId,
      channel_id: known?.channel_id ?? ids('notificationChannel'),
    };
    const knownTarget = known === undefined ? null : openTarget(known, secretKey);
    checkKind(input, known);
    const { target, signingSecret } = targetOf(input, knownTarget, smtp);
    const row: ChannelRow = {
      ...place,
      person_id: personId,
      kind,
      name,
      host: await hostOf(tx, personId, target, known),
      sealed_target: target === null ? null : sealTarget(target, secretKey, place),
      slack_user: known?.slack_user ?? null,
      events: JSON.stringify([...new Set(events)]),
      questions: input.questions,
      after_minutes: input.afterMinutes,
      shows_text: input.showsText ? 1 : 0,
      failure: null,
      stopped_at: null,
      created_at: known?.created_at ?? tx.nowMs,
    };
    await putChannel(tx, row);
    const action = known === undefined ? 'notification-channel.add' : 'notification-channel.update';
    await appendAudit(tx, {
      workspaceId,
      actor: personId,
      action,
      subject: row.channel_id,
      data: { kind, host: row.host },
    });
    return { channel: presentChannel(row), signingSecret };
  });
}

/** An account of Slack is proved in Slack. @throws HubError INVALID_REQUEST */
function checkKind({ kind }: PutInput, known: ChannelRow | undefined): void {
  if ((kind === 'slack_app') === (known?.kind === 'slack_app')) return;
  const advice =
    kind === 'slack_app' ? 'another: connect Slack with a code' : 'slack_app, as it is connected';
  throw invalidField('/kind', `must be ${advice}`);
}

async function hostOf(
  tx: Tx,
  personId: string,
  target: SealedTarget | null,
  known: ChannelRow | undefined,
): Promise<string> {
  if (target !== null) return new URL(target.url).host;
  return known?.slack_user == null ? await addressOf(tx, personId) : known.host;
}

/**
 * Where a channel leads now; null: to an account.
 *
 * @throws HubError INVALID_REQUEST
 */
function targetOf(
  input: PutInput,
  known: ChannelTarget | null,
  smtp: SmtpServer | null,
): { target: SealedTarget | null; signingSecret: string | null } {
  const { kind, keys } = input;
  if (kind === 'push') return { target: pushTargetOf(input, known), signingSecret: null };
  if (keys !== undefined) throw invalidField('/keys', 'must be absent: only a browser has keys');
  if (kind !== 'mail' && kind !== 'slack_app') return httpTargetOf(kind, input, known);
  checkAccount(input);
  if (kind === 'mail') checkMail(smtp);
  return { target: null, signingSecret: null };
}

/** @throws HubError INVALID_REQUEST */
function checkMail(smtp: SmtpServer | null): void {
  if (smtp === null) {
    const reason = 'the operator of the hub has not set SVC_SMTP_URL and SVC_MAIL_FROM';
    throw invalidField('/kind', `must be another kind: ${reason}`);
  }
}

/** It goes to the account of the person only. @throws HubError INVALID_REQUEST */
function checkAccount({ kind, url, secret }: PutInput): void {
  if (url === undefined && secret === undefined) return;
  const field = url === undefined ? '/secret' : '/url';
  const place = kind === 'mail' ? 'mail goes to the address of your account' : 'Slack has yours';
  throw invalidField(field, `must be absent: ${place}`);
}

/** Endpoint and keys are of one subscription. @throws HubError INVALID_REQUEST */
function pushTargetOf(
  { url, secret, keys }: PutInput,
  known: ChannelTarget | null,
): Omit<PushTarget, 'kind'> {
  if (secret !== undefined) throw invalidField('/secret', 'must be absent: a browser has keys');
  if (url === undefined && keys === undefined && known?.kind === 'push') return known;
  if (url === undefined) throw invalidField('/url', 'must be sent, with keys');
  if (keys === undefined || !arePushKeys(keys)) {
    throw invalidField('/keys', 'must be those of the subscription, in base64url');
  }
  return { url: checkUrl('push', url), keys };
}

/** The channel of the person for the browser that subscribes: a browser has one in a workspace. */
async function findBrowser(
  tx: Tx,
  personId: string,
  { workspaceId, kind, url }: PutInput,
  secretKey: Buffer,
): Promise<ChannelRow | undefined> {
  if (kind !== 'push' || url === undefined) return undefined;
  const channels = await listChannels(tx, workspaceId);
  return channels.find(
    (row) => row.person_id === personId && openTarget(row, secretKey)?.url === url,
  );
}

async function addressOf(tx: Tx, personId: string): Promise<string> {
  const person = await readPerson(tx, personId);
  if (person === undefined) throw new HubError('SESSION_REQUIRED');
  return person.email;
}

/**
 * A secret stays as long as the host does: it must not reach another server than the one that it
 * was given for.
 *
 * @throws HubError INVALID_REQUEST
 */
function httpTargetOf(
  kind: HttpKind,
  { url: givenUrl, secret }: PutInput,
  known: ChannelTarget | null,
): { target: SealedTarget; signingSecret: string | null } {
  const kept = known?.kind === kind ? known : undefined;
  const url = givenUrl === undefined ? kept?.url : checkUrl(kind, givenUrl);
  if (url === undefined) throw invalidField('/url', 'must be sent for a new channel or kind');
  const isSameHost = kept !== undefined && new URL(kept.url).host === new URL(url).host;
  if (kind === 'ntfy') {
    const keptSecret = isSameHost ? kept.secret : null;
    return { target: { url, secret: secret ?? keptSecret }, signingSecret: null };
  }
  if (secret !== undefined) {
    const reason = kind === 'webhook' ? 'the hub makes it' : 'the address of a chat is one';
    throw invalidField('/secret', `must be absent: ${reason}`);
  }
  if (kind !== 'webhook') return { target: { url, secret: null }, signingSecret: null };
  if (isSameHost) return { target: { url, secret: kept.secret }, signingSecret: null };
  const signingSecret = `whsec_${randomBytes(SIGNING_BYTES).toString('base64')}`;
  return { target: { url, secret: signingSecret }, signingSecret };
}

/** The channels of the person, by name. @throws HubError WORKSPACE_NOT_FOUND */
export async function listOwnChannels(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  principal: Principal,
  workspaceId: string,
): Promise<NotificationChannel[]> {
  const { personId } = await requireAct(reader, principal, workspaceId, 'notification.manage-own');
  const channels = await listChannels(reader, workspaceId);
  return channels
    .filter(({ person_id }) => person_id === personId)
    .map(presentChannel)
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

/** @throws HubError WORKSPACE_NOT_FOUND, CHANNEL_NOT_FOUND */
export function removeChannel(
  { database }: Pick<HubDeps, 'database'>,
  principal: Principal,
  ref: { workspaceId: string; channelId: string },
): Promise<void> {
  const { workspaceId, channelId } = ref;
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'notification.manage-own');
    const row = await requireOwn(tx, personId, ref);
    await deleteChannel(tx, row);
    const end = { state: 'failed' as const, failure: 'The channel was removed.' };
    await endWaiting(tx, { workspace_id: workspaceId, channel_id: channelId }, end);
    await passQuestionsOn(tx, workspaceId, personId);
    const action = 'notification-channel.remove';
    await appendAudit(tx, { workspaceId, actor: personId, action, subject: channelId });
  });
}

/** @throws HubError CHANNEL_NOT_FOUND, also for a channel of somebody else. */
export async function requireOwn(
  reader: Reader,
  personId: string,
  { workspaceId, channelId }: { workspaceId: string; channelId?: string | undefined },
): Promise<ChannelRow> {
  const row = await readChannel(reader, workspaceId, channelId ?? '');
  if (row === undefined || row.person_id !== personId) throw new HubError('CHANNEL_NOT_FOUND');
  return row;
}

export async function requireRoom(tx: Tx, workspaceId: string, personId: string): Promise<void> {
  const channels = await listChannels(tx, workspaceId);
  if (channels.filter(({ person_id }) => person_id === personId).length < CHANNELS_MAX) return;
  throw new HubError('LIMIT_REACHED', `You have ${CHANNELS_MAX} channels here: remove one first.`);
}

/** @throws HubError INVALID_REQUEST */
function checkUrl(kind: ChannelTarget['kind'], text: string): string {
  if (!URL.canParse(text)) throw invalidField('/url', 'must be an address such as https://…');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw invalidField('/url', 'must not have a user name or password in it');
  }
  if (kind === 'ntfy' && !/\/[\w-]{1,64}$/.test(url.pathname)) {
    throw invalidField('/url', 'must end with the topic, as in https://ntfy.example.org/my-topic');
  }
  url.hash = '';
  return url.href;
}

function presentChannel(row: ChannelRow): NotificationChannel {
  return {
    channelId: row.channel_id,
    kind: row.kind,
    name: row.name,
    host: row.host,
    events: JSON.parse(row.events) as NotificationChannel['events'],
    questions: row.questions,
    afterMinutes: row.after_minutes,
    showsText: row.shows_text === 1,
    failure: row.failure,
    stoppedAt: nullableTimestampOf(row.stopped_at),
    createdAt: timestampOf(row.created_at),
  };
}
