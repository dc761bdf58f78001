import { appendAccountAudit } from '../audit/append.ts';
import { type Principal, personIdOf } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { readPerson, updatePerson } from '../people/store.ts';
import { writeAccount } from '../people/write-account.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { NotificationContent } from './content.ts';
import {
  endWaiting,
  holdNotification,
  listHeldOfChannel,
  type NotificationRow,
  releaseHeld,
} from './store.ts';

/** The questions that one message tells of. */
const TOLD_MAX = 100;

/**
 * Sets how often the person is told of questions of low risk, in all workspaces. What waits for the
 * former time is sent.
 */
export async function setDigest(
  { database }: Pick<HubDeps, 'database'>,
  principal: Principal,
  hours: number,
): Promise<number> {
  const personId = personIdOf(principal);
  await writeAccount(database, personId, async (tx) => {
    await updatePerson(tx, personId, { digest_hours: hours });
    await releaseHeld(tx, personId, 'digest');
    await appendAccountAudit(tx, personId, {
      action: 'person.set-digest',
      subject: personId,
      data: { hours },
    });
  });
  return hours;
}

/** One message about several questions of low risk. */
export interface Digest {
  /** The notification that is sent, with the number of the others. */
  row: NotificationRow;
  others: readonly NotificationRow[];
}

/** Puts the other questions of low risk that wait by the same channel into a message. */
export async function collectDigest(
  reader: Reader,
  row: NotificationRow,
  nowMs: number,
): Promise<Digest> {
  const content = contentOf(row);
  if (row.event !== 'decision' || row.held_by === null || !content.isLowRisk) {
    return { row, others: [] };
  }
  const person = await readPerson(reader, row.person_id);
  if (person === undefined || person.digest_hours === 0) return { row, others: [] };
  const held = await listHeldOfChannel(reader, row, TOLD_MAX);
  const others = held.filter(
    (other) =>
      other.notification_id !== row.notification_id &&
      other.turn_at <= nowMs &&
      contentOf(other).isLowRisk,
  );
  const othersAsked = others.length;
  return { row: { ...row, content: JSON.stringify({ ...content, othersAsked }) }, others };
}

/** Keeps the others from being sent by themselves while the message is on its way. */
export async function holdOthers(tx: Tx, { others }: Digest, untilMs: number): Promise<void> {
  for (const other of others) await holdNotification(tx, other, { due_at: untilMs });
}

/** Gives the others the outcome of the message; those that were answered meanwhile stay so. */
export async function endOthers(
  tx: Tx,
  { others }: Digest,
  outcome: Pick<NotificationRow, 'state' | 'due_at'>,
): Promise<void> {
  for (const other of others) {
    const { workspace_id, notification_id } = other;
    if (outcome.state === 'sent') {
      const end = { state: 'sent' as const, failure: 'With other questions of low risk.' };
      await endWaiting(tx, { workspace_id, notification_id }, end);
    } else await holdNotification(tx, other, { due_at: outcome.due_at ?? tx.nowMs });
  }
}

function contentOf({ content }: NotificationRow): NotificationContent {
  // Written by `notifyOfDecision`.
  return JSON.parse(content) as NotificationContent;
}
