import { readRole } from '../access/store.ts';
import type { PrivateHosts } from '../base/outbound-hosts.ts';
import type { Reader } from '../db/engine.ts';
import { readPerson } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { SlackApp, SmtpServer } from '../start/setting-values.ts';
import { countUncertainties } from '../uncertainties/store-list.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { type Choice, readReplyChoices } from './choices.ts';
import { type Message, type NotificationContent, pathOf, sentencesOf } from './content.ts';
import { type Delivery, deliver } from './deliver.ts';
import { collectDigest, endOthers, holdOthers } from './digest.ts';
import { readEndOfPush } from './ended-push.ts';
import { findHold } from './holds.ts';
import { recordAtChannel } from './record-at-channel.ts';
import { sendMail } from './send-mail.ts';
import { editSlack, sendSlack, slackMessageOf } from './send-slack.ts';
import { SlackApi, type SlackLog } from './slack-api.ts';
import { plainMessage } from './slack-message.ts';
import {
  type ChannelRow,
  holdNotification,
  listDue,
  type NotificationRow,
  readChannel,
  recordAttempt,
  recordEdit,
  takeEdit,
  takeNotification,
} from './store.ts';
import { openTarget } from './target.ts';
import { isOfSession, passQuestionOn, readAbsences } from './turns.ts';
import { lookAtWaits } from './waiting-jobs.ts';
import { type VapidKeys, vapidKeysOf } from './web-push.ts';

export interface SenderDeps extends Pick<HubDeps, 'database' | 'clock' | 'secretKey'> {
  /** Private hosts that receivers may be on. */
  allowed: PrivateHosts;
  /** Null: no mail. */
  smtp: SmtpServer | null;
  /** Whether replies to mails are read. */
  takesReplies: boolean;
  /** Null: no app of Slack. */
  slack: SlackApp | null;
  log: SlackLog;
  /** The address of the console; empty before the hub listens. */
  baseUrl: () => string;
}

/** The question of a message, which may be answered by it. */
interface About {
  questionId: string;
  /** The answers that a mail lists; null: a reply does not count. */
  choices: readonly Choice[] | null;
}

/** Notifications that one pass looks at. */
const DUE_MAX = 500;
const IN_FLIGHT_MAX = 100;
/** A workspace whose receivers hang delays no other. */
const IN_FLIGHT_OF_WORKSPACE_MAX = 10;
/** An attempt ends within 30 s; after this time another hub may assume that this one has died. */
const ATTEMPT_MS = 60_000;
/** The same for an edit, whose call ends within 10 s. */
const EDIT_MS = 15_000;
const RETRY_FIRST_MS = 5_000;
const RETRY_MS_MAX = 15 * 60_000;
const NO_SLACK =
  'The operator of the hub has unset SVC_SLACK_BOT_TOKEN: it sends nothing to Slack now.';
const NO_MAIL = 'The operator of the hub has unset SVC_SMTP_URL: it sends no mail now.';
/** A message that was due a day ago is seen at the console, or not at all. */
const GIVEN_UP_MS = 24 * 60 * 60_000;

/**
 * Sends what is due in the outbox. A notification is taken by a write before it is sent, and what
 * came of it is written afterwards: when the hub is killed between, it is sent again after a
 * minute, with the same id. A receiver gets one message at a time.
 */
export class NotificationSender {
  readonly #deps: SenderDeps;
  readonly #vapid: VapidKeys;
  readonly #inFlight = new Map<string, { workspaceId: string; sent: Promise<void> }>();
  readonly #stop = new AbortController();
  readonly #onError: (error: unknown) => void;
  /** Null: the operator has set no app of Slack. */
  readonly slack: SlackApi | null;

  constructor(deps: SenderDeps, onError: (error: unknown) => void) {
    this.#deps = deps;
    this.#vapid = vapidKeysOf(deps.secretKey);
    this.#onError = onError;
    const { slack, log } = deps;
    this.slack = slack === null ? null : new SlackApi(slack, log, this.#stop.signal);
  }

  /** The public key with which browsers subscribe. */
  get pushKey(): string {
    return this.#vapid.publicKey;
  }

  /**
   * Begins to send what is due and has room.
   *
   * @returns how many it has begun, and whether others may be behind those that it looked at.
   */
  async sendDue(): Promise<{ begun: number; hasMore: boolean }> {
    const { database, clock } = this.#deps;
    const due = await listDue(database.reader, clock.nowMs(), this.#busy(), DUE_MAX);
    let begun = 0;
    for (const row of due) {
      if (this.#inFlight.size >= IN_FLIGHT_MAX) break;
      if (!this.#hasRoom(row)) continue;
      const sent = this.#send(row)
        .catch(this.#onError)
        .finally(() => this.#inFlight.delete(row.channel_id));
      this.#inFlight.set(row.channel_id, { workspaceId: row.workspace_id, sent });
      begun += 1;
    }
    return { begun, hasMore: begun > 0 && due.length === DUE_MAX };
  }

  /** Resolves when no message is on its way. */
  async idle(): Promise<void> {
    await Promise.all([...this.#inFlight.values()].map(({ sent }) => sent));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  /**
   * Makes one attempt to deliver a message by a channel.
   *
   * @param about of a message about one question; null: another.
   */
  async attempt(
    channel: ChannelRow,
    draft: Omit<Message, 'url' | 'settingsUrl'>,
    path: string,
    about: About | null = null,
  ): Promise<Delivery> {
    const { database, clock, secretKey, allowed } = this.#deps;
    const message = { ...draft, ...(await this.#addressesOf(channel.workspace_id, path)) };
    const { choices, questionId } = about ?? { choices: null, questionId: null };
    if (channel.kind === 'mail') return await this.#mail(channel, message, choices);
    if (channel.kind === 'slack_app') return await this.#slack(channel, message, questionId);
    const target = openTarget(channel, secretKey);
    if (target === null) {
      const failure = 'The key of the hub has changed, so its address is unknown: save it again.';
      return { kind: 'gone', failure };
    }
    const openCount = channel.kind === 'push' ? await countOpen(database.reader, channel) : 0;
    const means = { allowed, signal: this.#stop.signal, nowMs: clock.nowMs() };
    const delivery = await deliver(target, message, { ...means, vapid: this.#vapid, openCount });
    const isReplaced = channel.kind === 'push' && questionId !== null;
    // A later push with the same tag takes the place of this one.
    return isReplaced && delivery.kind === 'delivered'
      ? { ...delivery, receipt: message.id }
      : delivery;
  }

  /** Mails to the address of the person's account, which it may have changed since. */
  async #mail(
    { person_id }: ChannelRow,
    message: Message,
    choices: readonly Choice[] | null,
  ): Promise<Delivery> {
    const { database, smtp } = this.#deps;
    if (smtp === null) return { kind: 'again', failure: NO_MAIL, afterMs: 0 };
    const person = await readPerson(database.reader, person_id);
    if (person === undefined) return { kind: 'gone', failure: 'The account was deleted.' };
    return await sendMail(smtp, person.email, { ...message, choices }, this.#stop.signal);
  }

  async #addressesOf(workspaceId: string, path: string) {
    const workspace = await readWorkspace(this.#deps.database.reader, workspaceId);
    const home = `${this.#deps.baseUrl()}/w/${workspace?.slug ?? ''}`;
    return { url: `${home}/${path}`, settingsUrl: `${home}/settings/notifications` };
  }

  async #slack(
    { workspace_id, slack_user: user, shows_text }: ChannelRow,
    message: Message,
    questionId: string | null,
  ): Promise<Delivery> {
    if (this.slack === null || user === null) {
      return { kind: 'again', failure: NO_SLACK, afterMs: 0 };
    }
    if (questionId === null) {
      const sent = await sendSlack(this.slack, user, plainMessage(message));
      // It is never edited.
      return sent.kind === 'delivered' ? { kind: 'delivered' } : sent;
    }
    const key = { workspace_id, uncertainty_id: questionId };
    const { reader } = this.#deps.database;
    const shown = await slackMessageOf(reader, message, key, shows_text === 1);
    return await sendSlack(this.slack, user, shown);
  }

  /** Edits a message that was sent, because its question has changed. */
  async #edit(row: NotificationRow): Promise<void> {
    const { database, clock } = this.#deps;
    const { workspace_id: workspaceId, receipt } = row;
    const untilMs = clock.nowMs() + EDIT_MS;
    if (!(await database.write(workspaceId, (tx) => takeEdit(tx, row, untilMs)))) return;
    const edited = await this.editMessage(row, receipt ?? '');
    if (edited.kind === 'again' && this.#stop.signal.aborted) return;
    await database.write(workspaceId, (tx) =>
      recordEdit(tx, row, afterEdit(row, edited, tx.nowMs)),
    );
  }

  /** Makes one attempt to let a message about a question show it as it is now. */
  async editMessage(row: NotificationRow, receipt: string): Promise<Delivery> {
    if (receipt === row.notification_id) return await this.#replacePush(row);
    if (this.slack === null) return { kind: 'again', failure: NO_SLACK, afterMs: 0 };
    const { reader } = this.#deps.database;
    const { workspace_id, subject_id: uncertainty_id, created_at: atMs } = row;
    const [channel, role] = await Promise.all([
      readChannel(reader, workspace_id, row.channel_id),
      readRole(reader, row.person_id, workspace_id),
    ]);
    // A person who has left, or has removed the channel, reads that it has ended and no more.
    const showsText = channel?.shows_text === 1 && role !== null;
    const addresses = await this.#addressesOf(workspace_id, `inbox/${uncertainty_id}`);
    const sentences = sentencesOf(JSON.parse(row.content) as NotificationContent, showsText);
    const draft = { ...sentences, ...addresses, atMs };
    const key = { workspace_id, uncertainty_id };
    const shown = await slackMessageOf(reader, draft, key, showsText);
    return await editSlack(this.slack, receipt, shown);
  }

  /** Shows on a phone that a question has ended, in the place of the message that asked. */
  async #replacePush(row: NotificationRow): Promise<Delivery> {
    const { reader } = this.#deps.database;
    const { workspace_id, subject_id, notification_id: id, event } = row;
    const [channel, role] = await Promise.all([
      readChannel(reader, workspace_id, row.channel_id),
      readRole(reader, row.person_id, workspace_id),
    ]);
    if (channel === undefined || channel.stopped_at !== null || role === null) {
      return { kind: 'refused', failure: 'The person or the channel is gone.' };
    }
    const showsText = channel.shows_text === 1;
    const asked = sentencesOf(JSON.parse(row.content) as NotificationContent, showsText);
    const sentences = await readEndOfPush(reader, row, asked, showsText);
    if (sentences === null) return { kind: 'delivered' };
    const draft = { id, event, atMs: row.created_at, ...sentences, replaces: true };
    return await this.attempt(channel, draft, `inbox/${subject_id}`);
  }

  /** Those that have no room: however much waits for them, others are found behind it. */
  #busy(): { channelIds: string[]; workspaceIds: string[] } {
    const workspaceIds = [...this.#inFlight.values()].map(({ workspaceId }) => workspaceId);
    return {
      channelIds: [...this.#inFlight.keys()],
      workspaceIds: [...new Set(workspaceIds)].filter((id) => !this.#hasRoomFor(id)),
    };
  }

  #hasRoom({ workspace_id, channel_id }: NotificationRow): boolean {
    return !this.#inFlight.has(channel_id) && this.#hasRoomFor(workspace_id);
  }

  #hasRoomFor(workspaceId: string): boolean {
    const own = [...this.#inFlight.values()].filter((one) => one.workspaceId === workspaceId);
    return own.length < IN_FLIGHT_OF_WORKSPACE_MAX;
  }

  async #send(found: NotificationRow): Promise<void> {
    const { database, clock } = this.#deps;
    if (found.edit_at !== null) return await this.#edit(found);
    if (await this.#isPassedOn(found)) return;
    const nowMs = clock.nowMs();
    const held = await findHold(database.reader, found, nowMs);
    if (held !== null) {
      await database.write(found.workspace_id, (tx) => holdNotification(tx, found, held));
      return;
    }
    const waits = found.event === 'job_waits' ? await lookAtWaits(this.#deps, found) : null;
    if (waits?.row === null) return await database.write(found.workspace_id, waits.record);
    const digest = await collectDigest(database.reader, waits?.row ?? found, nowMs);
    const { row } = digest;
    const isTaken = await database.write(row.workspace_id, async (tx) => {
      const taken = await takeNotification(tx, row, tx.nowMs + ATTEMPT_MS);
      if (!taken) return false;
      await waits?.record(tx);
      await holdOthers(tx, digest, tx.nowMs + ATTEMPT_MS);
      return true;
    });
    if (!isTaken) return;
    const channel = await readChannel(database.reader, row.workspace_id, row.channel_id);
    const delivery = await this.deliverNow(row, channel);
    // The hub stops: after its start, or on another hub, the attempt is made again.
    if (delivery.kind === 'again' && this.#stop.signal.aborted) return;
    await database.write(row.workspace_id, async (tx) => {
      const outcome = outcomeOf(row, delivery, tx.nowMs);
      await recordAttempt(tx, row, outcome);
      await endOthers(tx, digest, outcome);
      if (outcome.state === 'failed' && row.event === 'decision') {
        await passQuestionOn(tx, row.workspace_id, row.subject_id);
      }
      if (channel !== undefined) await recordAtChannel(tx, channel, delivery);
    });
  }

  /** Whether the next person is told of a question instead, because this one is absent. */
  async #isPassedOn(row: NotificationRow): Promise<boolean> {
    const { workspace_id: workspaceId, subject_id: subjectId, person_id: personId } = row;
    if (row.event !== 'decision' || isOfSession(row)) return false;
    const { database, clock } = this.#deps;
    const now = clock.nowMs();
    const absences = await readAbsences(database.reader, workspaceId, [personId], now);
    if (!absences.has(personId)) return false;
    await database.write(workspaceId, (tx) => passQuestionOn(tx, workspaceId, subjectId));
    return true;
  }

  /** Makes one attempt to deliver a notification, and records nothing. */
  async deliverNow(row: NotificationRow, channel: ChannelRow | undefined): Promise<Delivery> {
    const { reader } = this.#deps.database;
    if (channel === undefined) return { kind: 'refused', failure: 'The channel was removed.' };
    if (channel.stopped_at !== null) {
      return { kind: 'gone', failure: channel.failure ?? 'The receiver is gone.' };
    }
    if ((await readRole(reader, row.person_id, row.workspace_id)) === null) {
      return { kind: 'refused', failure: 'The person is no member of the workspace any more.' };
    }
    const content = JSON.parse(row.content) as NotificationContent;
    const { notification_id: id, event, created_at: atMs } = row;
    const sentences = sentencesOf(content, channel.shows_text === 1);
    const message = { id, event, atMs, ...sentences };
    const isAsked = event === 'decision' && !content.othersAsked;
    const { takesReplies } = this.#deps;
    const about = isAsked && {
      questionId: row.subject_id,
      choices: takesReplies ? await readReplyChoices(reader, row, channel) : null,
    };
    return await this.attempt(channel, message, pathOf(row, content), about || null);
  }
}

/** As the inbox of the person counts them. */
async function countOpen(
  reader: Reader,
  { workspace_id: workspaceId, person_id: principalId }: ChannelRow,
): Promise<number> {
  const filter = { principalId, forAsker: false };
  return (await countUncertainties(reader, workspaceId, filter)).counts.open;
}

function outcomeOf(
  row: NotificationRow,
  delivery: Delivery,
  nowMs: number,
): Pick<NotificationRow, 'state' | 'due_at' | 'failure' | 'receipt' | 'ended_at'> {
  if (delivery.kind === 'delivered') {
    const { receipt = null } = delivery;
    return { state: 'sent', due_at: null, failure: null, receipt, ended_at: nowMs };
  }
  const { failure } = delivery;
  const receipt = null;
  if (delivery.kind === 'again' && nowMs - row.turn_at < GIVEN_UP_MS) {
    const delayMs = Math.min(RETRY_FIRST_MS * 2 ** row.attempts, RETRY_MS_MAX);
    const due_at = nowMs + Math.max(delayMs, delivery.afterMs);
    return { state: 'waiting', due_at, failure, receipt, ended_at: null };
  }
  return { state: 'failed', due_at: null, failure, receipt, ended_at: nowMs };
}

/** When an edit is made again; it waits as long as it was due, within limits. */
function afterEdit(
  { edit_at: editAtMs }: NotificationRow,
  edited: Delivery,
  nowMs: number,
): Partial<Pick<NotificationRow, 'edit_at' | 'due_at'>> {
  const sinceMs = nowMs - (editAtMs ?? nowMs);
  if (edited.kind !== 'again' || sinceMs >= GIVEN_UP_MS) return { edit_at: null, due_at: null };
  const delayMs = Math.min(Math.max(sinceMs, RETRY_FIRST_MS), RETRY_MS_MAX);
  return { due_at: nowMs + Math.max(delayMs, edited.afterMs) };
}
