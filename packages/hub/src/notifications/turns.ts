import { listMemberIds, listOwnerIds } from '../access/store.ts';
import { timestampOf } from '../base/clock.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import { readOutOfOffice } from '../people/store.ts';
import { askOrderOf } from '../repositories/ask-order.ts';
import { readRepository } from '../repositories/store.ts';
import { readRun } from '../runs/store.ts';
import type { UncertaintyRow } from '../uncertainties/store.ts';
import { readWorkspace } from '../workspaces/store.ts';
import type { NotificationContent } from './content.ts';
import {
  type ChannelRow,
  listOfDecision,
  listWaitingWithPerson,
  type NotificationRow,
} from './store.ts';

const MINUTE_MS = 60_000;

/** The channels that are told at the same time. */
export interface Turn {
  atMs: number;
  channels: readonly ChannelRow[];
}

/**
 * Whose turn comes when, of the persons with channels for a question: in the order of the run, or
 * else of the repository, or else the person who enqueued the job, or all when that person cannot
 * be told; and then the owners.
 */
export async function planTurns(
  tx: Tx,
  {
    workspace_id: workspaceId,
    repo_id: repoId,
    run_id: runId,
    requested_by: requester,
  }: UncertaintyRow,
  channels: readonly ChannelRow[],
  absences: Absences,
): Promise<Turn[]> {
  const [workspace, repository, run] = await Promise.all([
    readWorkspace(tx, workspaceId),
    repoId === null ? undefined : readRepository(tx, workspaceId, repoId),
    runId === null ? undefined : readRun(tx, workspaceId, runId),
  ]);
  const [order = null] = [run, repository].flatMap((row) => (row && askOrderOf(row)) ?? []);
  const places = new Set(order?.personIds.map((personId) => personId ?? requester));
  const listed = [...places]
    .map((personId) => channels.filter(({ person_id }) => person_id === personId))
    .filter((own) => own.length > 0);
  const firsts = listed.length > 0 ? listed : [findFirst(requester, channels, absences)];
  const turns = firsts.map((own, at) => ({
    atMs: tx.nowMs + at * (order?.minutes ?? 0) * MINUTE_MS,
    channels: own,
  }));
  const minutes = workspace?.ask_owners_after_minutes ?? 0;
  const isTold = new Set(firsts.flat());
  if (minutes === 0 || isTold.size === channels.length) return turns;
  const owners = new Set(await listOwnerIds(tx, workspaceId));
  const rest = channels.filter((one) => owners.has(one.person_id) && !isTold.has(one));
  const lastMs = turns.at(-1)?.atMs ?? tx.nowMs;
  return [...turns, { atMs: lastMs + minutes * MINUTE_MS, channels: rest }];
}

/** The channels of the person who enqueued the job; all, when that person cannot be told. */
function findFirst(
  requester: string | null,
  channels: readonly ChannelRow[],
  absences: Absences,
): readonly ChannelRow[] {
  const own = channels.filter(({ person_id }) => person_id === requester);
  const isAbsent = requester === null || own.length === 0 || absences.has(requester);
  return isAbsent ? channels : own;
}

interface Absence {
  /** Null: for good. */
  untilMs: number | null;
  reason: string;
}

/** Why persons cannot be told of questions, and until when. */
export type Absences = ReadonlyMap<string, Absence>;

/** Those of some persons who cannot be told of the questions of a workspace now. */
export async function readAbsences(
  reader: Reader,
  workspaceId: string,
  personIds: readonly string[],
  nowMs: number,
): Promise<Absences> {
  const [memberIds, outOfOffice] = await Promise.all([
    listMemberIds(reader, workspaceId, personIds),
    readOutOfOffice(reader, personIds, nowMs),
  ]);
  const members = new Set(memberIds);
  const out = [...outOfOffice].map(([personId, untilMs]) => {
    return [personId, { untilMs, reason: describeAbsence(untilMs) }] as const;
  });
  const left = personIds
    .filter((personId) => !members.has(personId))
    .map((personId) => [personId, { untilMs: null, reason: 'Left the workspace.' }] as const);
  return new Map<string, Absence>([...out, ...left]);
}

function describeAbsence(untilMs: number): string {
  const [date, time] = timestampOf(untilMs).split('T');
  return `Out of office until ${date} ${time?.slice(0, 5)} UTC.`;
}

/**
 * The messages about a question when it passes over absent persons: theirs are skipped, and when no
 * one is left in a turn, the later turns come earlier by what is left of it.
 */
export function passOver(
  rows: readonly NotificationRow[],
  absences: Absences,
  nowMs: number,
): NotificationRow[] {
  const times = [...new Set(rows.map(({ turn_at }) => turn_at))].toSorted((a, b) => a - b);
  let earlierMs = 0;
  return times.flatMap((time, at) => {
    const turnMs = time - earlierMs;
    const beginMs = Math.max(turnMs, nowMs);
    const own = rows
      .filter(({ turn_at }) => turn_at === time)
      .map((row) => placeRow(row, turnMs, reasonOf(absences, row, beginMs), nowMs));
    const isEmpty = own.every(
      ({ row, isAbsent }) => isAbsent || row.state === 'skipped' || row.state === 'failed',
    );
    const nextTime = times[at + 1];
    if (isEmpty && nextTime !== undefined) earlierMs = Math.max(earlierMs, nextTime - beginMs);
    return own.map(({ row }) => row);
  });
}

function reasonOf(absences: Absences, { person_id }: NotificationRow, atMs: number): string | null {
  const absence = absences.get(person_id);
  if (absence === undefined) return null;
  return absence.untilMs === null || absence.untilMs > atMs ? absence.reason : null;
}

function placeRow(
  row: NotificationRow,
  turnMs: number,
  reason: string | null,
  nowMs: number,
): { row: NotificationRow; isAbsent: boolean } {
  const isAbsent = reason !== null;
  const isOnItsWay = row.attempts > 0 && (row.due_at ?? 0) > nowMs;
  if (row.state !== 'waiting' || isOnItsWay) return { row, isAbsent };
  if (isAbsent) {
    const end = { state: 'skipped', due_at: null, failure: reason, ended_at: nowMs } as const;
    return { row: { ...row, turn_at: turnMs, ...end }, isAbsent };
  }
  if (turnMs === row.turn_at || row.attempts > 0) return { row, isAbsent };
  // A channel may come some minutes after the turn. The sender finds again what holds a message.
  const delayMs = row.held_by === null ? (row.due_at ?? row.turn_at) - row.turn_at : 0;
  return { row: { ...row, turn_at: turnMs, due_at: turnMs + delayMs }, isAbsent };
}

/** Whether a session of the person asks: no one else may know of it. */
export function isOfSession({ content }: Pick<NotificationRow, 'content'>): boolean {
  // Written by `notifyOfDecision`.
  return (JSON.parse(content) as NotificationContent).isOfSession;
}

/** Passes over those persons of a question who are absent, or were not reached. */
export async function passQuestionOn(
  tx: Tx,
  workspaceId: string,
  subjectId: string,
): Promise<void> {
  const rows = await listOfDecision(tx, workspaceId, subjectId);
  if (rows.some(isOfSession)) return;
  const personIds = [...new Set(rows.map(({ person_id }) => person_id))];
  const absences = await readAbsences(tx, workspaceId, personIds, tx.nowMs);
  const known = new Set(rows);
  for (const row of passOver(rows, absences, tx.nowMs)) {
    if (known.has(row)) continue;
    const { notification_id, attempts, turn_at, state, due_at, failure, ended_at } = row;
    const set = { turn_at, state, due_at, failure, ended_at };
    // It may have been taken meanwhile.
    const waiting = { notification_id, attempts, state: 'waiting' as const };
    await updateRows(tx, 'notifications', { workspace_id: workspaceId, ...waiting }, set);
  }
}

/** Passes on the questions that wait with a person who has become absent. */
export async function passQuestionsOn(
  tx: Tx,
  workspaceId: string,
  personId: string,
): Promise<void> {
  for (const subjectId of await listWaitingWithPerson(tx, workspaceId, personId)) {
    await passQuestionOn(tx, workspaceId, subjectId);
  }
}
