import type { Reader } from '../db/engine.ts';
import { type PersonRow, readPerson } from '../people/store.ts';
import type { NotificationContent } from './content.ts';
import { describeHold, endOfQuiet, quietHoursOf } from './quiet-hours.ts';
import { hasVisiblePage, listHeldOfChannel, type NotificationRow, readChannel } from './store.ts';
import { isPrivate } from './visible-pages.ts';

const HOUR_MS = 60 * 60_000;
/** The live stream reaches a page in 0.1 s, and a busy page reads again after 0.3 s. */
const LOOK_MS = 1_000;

/** Until when a notification waits, and why. */
export type Hold = Pick<NotificationRow, 'due_at' | 'failure' | 'held_by'>;

/** Why a notification that is due waits longer; null: it is sent. */
export async function findHold(
  reader: Reader,
  row: NotificationRow,
  nowMs: number,
): Promise<Hold | null> {
  const [person, isAtConsole] = await Promise.all([
    readPerson(reader, row.person_id),
    hasVisiblePage(reader, row, nowMs),
  ]);
  if (person === undefined) return null;
  const content = JSON.parse(row.content) as NotificationContent;
  const hold =
    (await findDigest(reader, row, person, content)) ?? findQuiet(person, content, nowMs);
  return hold ?? (isAtConsole ? await findPage(reader, row, nowMs) : null);
}

/** While a page of the person is visible, it has a moment to say that it shows the question. */
async function findPage(reader: Reader, row: NotificationRow, nowMs: number): Promise<Hold | null> {
  if (row.event !== 'decision' || row.held_by === 'page' || row.attempts > 0) return null;
  const channel = await readChannel(reader, row.workspace_id, row.channel_id);
  if (channel === undefined || !isPrivate(channel)) return null;
  return { due_at: nowMs + LOOK_MS, failure: null, held_by: 'page' };
}

/** A question of low risk waits for the others, unless its deadline comes before. */
async function findDigest(
  reader: Reader,
  row: NotificationRow,
  { digest_hours: hours }: PersonRow,
  content: NotificationContent,
): Promise<Hold | null> {
  if (hours === 0 || row.held_by !== null || row.attempts > 0 || !content.isLowRisk) return null;
  const waiting = await listHeldOfChannel(reader, row, 1);
  const dueAt = Math.min(waiting[0]?.due_at ?? Infinity, row.turn_at + hours * HOUR_MS);
  if (isBefore(content.deadlineAtMs, dueAt)) return null;
  const often = hours === 1 ? 'each hour' : `every ${hours} hours`;
  return { due_at: dueAt, failure: `Low risk: told ${often}.`, held_by: 'digest' };
}

/** In the quiet hours of the person, only what cannot wait is sent. */
function findQuiet(
  person: PersonRow,
  { isApproval, deadlineAtMs }: NotificationContent,
  nowMs: number,
): Hold | null {
  const hours = quietHoursOf(person);
  if (hours === null || isApproval) return null;
  const dueAt = endOfQuiet(hours, nowMs);
  if (dueAt === null || isBefore(deadlineAtMs, dueAt)) return null;
  return { due_at: dueAt, failure: describeHold(hours), held_by: 'quiet-hours' };
}

function isBefore(deadlineAtMs: number | null, atMs: number): boolean {
  return deadlineAtMs !== null && deadlineAtMs <= atMs;
}
