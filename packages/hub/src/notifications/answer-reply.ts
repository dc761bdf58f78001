import { createHash } from 'node:crypto';
import { listMembershipsOfPerson } from '../access/store.ts';
import { timestampOf } from '../base/clock.ts';
import type { ReplyMail } from '../context/mail/read-reply.ts';
import type { Reader } from '../db/engine.ts';
import { listPeopleByEmail } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { ReplyMailbox, SmtpServer } from '../start/setting-values.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { answerFromMessage, type MessageOutcome } from './answer-from-message.ts';
import { pickAnswer, readReplyChoices } from './choices.ts';
import { type NotificationContent, pathOf } from './content.ts';
import { judgeReply, type ProvedReply } from './judge-reply.ts';
import { sendRefusal } from './send-mail.ts';
import { findNotification, type NotificationRow, readChannel } from './store.ts';

export interface ReplyDeps extends HubDeps {
  mailbox: ReplyMailbox;
  smtp: SmtpServer;
  /** The address of the console. */
  baseUrl: () => string;
}

export type ReplyOutcome =
  | { kind: 'answered'; uncertaintyId: string }
  /** `isTold`: the person got a mail that says why, or the server takes none for them. */
  | { kind: 'refused'; text: string; isTold: boolean }
  /** Without a mail: its sender is not proved, or a program has sent it. */
  | { kind: 'ignored'; reason: string };

const NOT_BY_REPLY =
  'A reply does not answer that mail. Only the console settles approvals, risks, actions of a tool ' +
  'and questions of your own sessions, and what a mail does not show, or shows with others.';

/**
 * Answers a question as the person who replies to the mail about it. A person whose reply does not
 * count gets a mail that says why.
 *
 * @param isTooLarge of the mail, so that only its beginning was read.
 */
export async function answerReply(
  deps: ReplyDeps,
  mail: ReplyMail,
  isTooLarge: boolean,
  stop: AbortSignal,
): Promise<ReplyOutcome> {
  const { smtp, mailbox } = deps;
  const proved = judgeReply(mail, { authServId: mailbox.authServId, ours: smtp.from });
  if ('ignored' in proved) return { kind: 'ignored', reason: proved.ignored };
  const row = await findAnswered(deps.database.reader, proved);
  if (row === undefined) {
    return { kind: 'ignored', reason: 'its sender is no member who got that mail' };
  }
  const refusal = isTooLarge ? 'It is larger than 1 MiB.' : await giveAnswer(deps, row, mail.text);
  if (refusal === null) return { kind: 'answered', uncertaintyId: row.subject_id };
  const workspace = await readWorkspace(deps.database.reader, row.workspace_id);
  // Written by `raise.ts`.
  const content = JSON.parse(row.content) as NotificationContent;
  const url = `${deps.baseUrl()}/w/${workspace?.slug ?? ''}/${pathOf(row, content)}`;
  const reply = { messageId: proved.messageId, notificationId: row.notification_id };
  const delivery = await sendRefusal(smtp, proved.sender, { ...reply, text: refusal, url }, stop);
  return { kind: 'refused', text: refusal, isTold: delivery.kind !== 'again' };
}

/** The notification that is answered, if its mail went to the account of the sender. */
async function findAnswered(
  reader: Reader,
  { sender, notificationId }: ProvedReply,
): Promise<NotificationRow | undefined> {
  const people = await listPeopleByEmail(reader, sender);
  for (const { person_id: personId } of people) {
    const memberships = await listMembershipsOfPerson(reader, personId);
    const workspaceIds = memberships.map(({ workspace_id }) => workspace_id);
    const row = await findNotification(reader, { workspaceIds, personId, notificationId });
    if (row !== undefined) return row;
  }
  return undefined;
}

/** @returns why the reply does not answer, in sentences; null: it does. */
async function giveAnswer(
  deps: ReplyDeps,
  row: NotificationRow,
  text: string,
): Promise<string | null> {
  const { reader } = deps.database;
  const { workspace_id: workspaceId, subject_id: uncertaintyId, person_id: personId } = row;
  const channel = await readChannel(reader, workspaceId, row.channel_id);
  const choices = channel === undefined ? null : await readReplyChoices(reader, row, channel);
  if (choices === null) return NOT_BY_REPLY;
  if (text === '') return 'It has no text above what it quotes: write your answer there.';
  const value = pickAnswer(choices, text);
  if (value === null) return 'Its first line may mean two of the answers: choose on the page.';
  const outcome = await answerFromMessage(deps, {
    workspaceId,
    uncertaintyId,
    personId,
    via: 'mail',
    value,
    idempotencyKey: keyOf(row, text),
  });
  return explain(outcome);
}

/** A mail that comes twice, or is read twice, is one answer. */
function keyOf({ notification_id }: NotificationRow, text: string): string {
  return createHash('sha256').update(`${notification_id}\n${text}`).digest('hex');
}

function explain(outcome: MessageOutcome): string | null {
  switch (outcome.kind) {
    case 'answered':
      return null;
    case 'late':
      return `It came too late: ${outcome.deed} at ${timestampOf(outcome.atMs)}.`;
    case 'console':
      return NOT_BY_REPLY;
    case 'refused':
      return outcome.text;
  }
}
