import { createHmac } from 'node:crypto';
import { formatUserCode, normalizeUserCode } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { readRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { hubKeyFor } from '../base/sealing.ts';
import type { Tx } from '../db/engine.ts';
import type { SlackCodesTable } from '../db/schema/notifications.ts';
import { drawUserCode } from '../devices/start-login.ts';
import { requireRoom } from '../notifications/channels.ts';
import {
  type ChannelRow,
  deleteSlackCode,
  listChannelsOfSlackUser,
  putChannel,
  putSlackCode,
  readSlackCode,
} from '../notifications/store.ts';
import { readPerson } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';

const CODE_MS = 10 * 60_000;
const PURPOSE = 'signalbox code for Slack';
/** The contract's limits of a channel's name and place. */
const NAME_CHARS_MAX = 100;
const PLACE_CHARS_MAX = 320;

/** An account of Slack, as a signed request or the app's own connection says. */
export interface SlackAccount {
  teamId: string;
  userId: string;
  /** As people see them. */
  userName: string;
  teamName: string;
}

/** Team and user, as rows have them. */
export function slackUserOf({ teamId, userId }: Pick<SlackAccount, 'teamId' | 'userId'>): string {
  return `${teamId} ${userId}`;
}

/**
 * Makes the code by which a person connects their account of Slack: who sends it there is the
 * person, because the console shows it to them alone.
 *
 * @throws HubError WORKSPACE_NOT_FOUND
 */
export function makeSlackCode(
  { database, secretKey }: Pick<HubDeps, 'database' | 'secretKey'>,
  principal: Principal,
  workspaceId: string,
): Promise<{ code: string; expiresAt: string }> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'notification.manage-own');
    const code = drawUserCode();
    const expiresAtMs = tx.nowMs + CODE_MS;
    await putSlackCode(tx, {
      workspace_id: workspaceId,
      person_id: personId,
      code_hash: hashCode(code, secretKey),
      expires_at: expiresAtMs,
    });
    return { code: formatUserCode(code), expiresAt: timestampOf(expiresAtMs) };
  });
}

/** With a key, because a code is too short to resist guesses by its hash. */
function hashCode(code: string, secretKey: Buffer): string {
  return createHmac('sha256', hubKeyFor(secretKey, PURPOSE)).update(code).digest('hex');
}

/**
 * Connects an account of Slack with the person who made the code, and adds a channel to it.
 *
 * @returns how that went, as a sentence for the one who sent the code.
 */
export async function connectSlack(
  deps: HubDeps,
  account: SlackAccount,
  text: string,
): Promise<string> {
  const code = normalizeUserCode(text);
  const codeHash = code === null ? null : hashCode(code, deps.secretKey);
  const { database, clock } = deps;
  const found =
    codeHash === null ? undefined : await readSlackCode(database.reader, codeHash, clock.nowMs());
  if (found === undefined) return WRONG_CODE;
  try {
    return await database.write(found.workspace_id, (tx) => connect(deps, tx, found, account));
  } catch (error) {
    if (error instanceof HubError) return error.message;
    throw error;
  }
}

const WRONG_CODE =
  'This code is wrong, used or older than ten minutes. Get a new one at the console: Settings, ' +
  'Notifications, Connect Slack.';

async function connect(
  { ids }: HubDeps,
  tx: Tx,
  code: SlackCodesTable,
  account: SlackAccount,
): Promise<string> {
  const { workspace_id: workspaceId, person_id: personId } = code;
  const isUsed = code.expires_at <= tx.nowMs || !(await deleteSlackCode(tx, code));
  const [role, person, workspace] = await Promise.all([
    readRole(tx, personId, workspaceId),
    readPerson(tx, personId),
    readWorkspace(tx, workspaceId),
  ]);
  if (isUsed || role === null || person === undefined || workspace === undefined) return WRONG_CODE;
  const slackUser = slackUserOf(account);
  const known = (await listChannelsOfSlackUser(tx, slackUser)).find(
    (row) => row.workspace_id === workspaceId,
  );
  if (known !== undefined && known.person_id !== personId) {
    return `Another member of ${workspace.name} is connected with your account: they remove it at the console first.`;
  }
  if (known === undefined) await requireRoom(tx, workspaceId, personId);
  const row: ChannelRow = {
    ...(known ?? newChannel(workspaceId, personId, ids('notificationChannel'), tx.nowMs)),
    slack_user: slackUser,
    host: placeOf(account),
    failure: null,
    stopped_at: null,
  };
  await putChannel(tx, row);
  const action = known === undefined ? 'notification-channel.add' : 'notification-channel.update';
  await appendAudit(tx, {
    workspaceId,
    actor: personId,
    action,
    subject: row.channel_id,
    data: { kind: row.kind, host: row.host, slackUser },
  });
  return `Connected: you are ${person.name} in ${workspace.name}. Questions reach you here.`;
}

function newChannel(
  workspace_id: string,
  person_id: string,
  channel_id: string,
  created_at: number,
): Omit<ChannelRow, 'slack_user' | 'host' | 'failure' | 'stopped_at'> {
  return {
    workspace_id,
    channel_id,
    person_id,
    kind: 'slack_app',
    name: 'Slack',
    sealed_target: null,
    events: JSON.stringify(['decision']),
    questions: 'all',
    after_minutes: 0,
    shows_text: 1,
    created_at,
  };
}

/** Names are of others: one line, cut. */
function placeOf({ userName, teamName }: SlackAccount): string {
  const clean = (name: string) => name.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, NAME_CHARS_MAX);
  return `${clean(userName)} in ${clean(teamName)}`.slice(0, PLACE_CHARS_MAX);
}
