import type { Tx } from '../db/engine.ts';
import type { JobRecord } from '../jobs/require-job.ts';
import { readJobTitles } from '../jobs/store-whole.ts';
import { titleOfRow } from '../jobs/title.ts';
import type { AfterCompletion, HookDeps, JobKey } from '../start/hooks.ts';
import type { UncertaintyKey, UncertaintyRow } from '../uncertainties/store.ts';
import type { NotificationContent } from './content.ts';
import {
  addNotification,
  type ChannelRow,
  endWaiting,
  listChannels,
  type NotificationRow,
  putEdits,
} from './store.ts';
import { passOver, passQuestionsOn, planTurns, readAbsences } from './turns.ts';
import { WAIT_MS } from './waiting-jobs.ts';

const MINUTE_MS = 60_000;
/** More of a question is in no message. */
const QUESTION_CHARS_MAX = 1_000;
/** Of the recommended answer, which a button shows. */
const RECOMMENDED_CHARS_MAX = 200;

type ChannelEvent = NotificationRow['event'];

/**
 * Tells persons of a decision request, one turn after the other as long as it is not answered. Of
 * their own session, only that person is told. An `onDecisionRequested` hook.
 */
export async function notifyOfDecision(
  deps: HookDeps,
  tx: Tx,
  asked: UncertaintyRow,
): Promise<void> {
  const { workspace_id: workspaceId, uncertainty_id: subjectId, job_id: jobId } = asked;
  const channels = (await listChannels(tx, workspaceId)).filter(
    (channel) => hears('decision')(channel) && hearsOf(channel, asked),
  );
  if (channels.length === 0) return;
  const titles = jobId === null ? null : await readJobTitles(tx, workspaceId, [jobId]);
  const jobTitle = (jobId === null ? undefined : titles?.get(jobId)) ?? null;
  const question = asked.prompt.slice(0, QUESTION_CHARS_MAX);
  const content = {
    jobTitle,
    question,
    recommended: recommendedOf(asked),
    outcome: null,
    isApproval: asked.kind === 'approval',
    deadlineAtMs: asked.deadline_at,
    isOfSession: asked.session !== null,
    isLowRisk: isLowRisk(asked),
  };
  const told = { event: 'decision' as const, subjectId, content };
  if (asked.session !== null) {
    const own = channels.filter(({ person_id }) => person_id === asked.requested_by);
    return await raise(deps, tx, own, told, tx.nowMs);
  }
  const personIds = [...new Set(channels.map(({ person_id }) => person_id))];
  const absences = await readAbsences(tx, workspaceId, personIds, tx.nowMs);
  const turns = await planTurns(tx, asked, channels, absences);
  const rows = turns.flatMap(({ atMs, channels: own }) =>
    own.map((channel) => makeRow(deps, channel, told, { atMs, nowMs: tx.nowMs })),
  );
  for (const row of passOver(rows, absences, tx.nowMs)) await addNotification(tx, row);
}

/** The label of the recommended answer, as the console shows it. */
function recommendedOf({ options, recommended_value: value }: UncertaintyRow): string | null {
  const known = (JSON.parse(options) as { value: string; label?: string }[]).find(
    (option) => option.value === value,
  );
  const shown = known?.label?.trim() || value?.trim() || null;
  return shown === null ? null : shown.slice(0, RECOMMENDED_CHARS_MAX);
}

/**
 * A decision is resolved: messages about it that wait are not sent any more, and those that were
 * sent tell it, where they can be edited.
 */
export async function settleDecision(
  _deps: HookDeps,
  tx: Tx,
  { workspace_id, uncertainty_id }: UncertaintyKey,
): Promise<void> {
  const end = { state: 'settled' as const, failure: null };
  const subject = { workspace_id, subject_id: uncertainty_id };
  await endWaiting(tx, subject, end);
  await putEdits(tx, subject);
}

/** A resolution is withdrawn: messages that tell it ask again. An `onDecisionReopened` hook. */
export async function editReopened(
  _deps: HookDeps,
  tx: Tx,
  { workspace_id, uncertainty_id }: UncertaintyKey,
): Promise<void> {
  await putEdits(tx, { workspace_id, subject_id: uncertainty_id });
}

/** Tells the person who enqueued a job that it is done or failed. An `onJobCompleted` hook. */
export async function notifyOfCompletion(
  deps: HookDeps,
  tx: Tx,
  { workspaceId }: JobKey,
): Promise<AfterCompletion> {
  const channels = await listChannels(tx, workspaceId);
  return async (record) => {
    const { entry, row } = record;
    if (entry.status !== 'done' && entry.status !== 'failed') return record;
    const own = channels.filter(
      (channel) => channel.person_id === row.created_by && hears('job_ended')(channel),
    );
    if (own.length === 0) return record;
    const jobTitle = titleOfRow({ title: row.title, beginning: row.prompt });
    const content = {
      jobTitle,
      question: null,
      recommended: null,
      outcome: entry.status,
      isApproval: false,
      deadlineAtMs: null,
      isOfSession: false,
      isLowRisk: false,
    };
    const told = { event: 'job_ended' as const, subjectId: row.job_id, content };
    await raise(deps, tx, own, told, tx.nowMs);
    return record;
  };
}

/**
 * Plans to tell the person who enqueued a job when no agent can take it for some minutes. Whether
 * that is so is looked at when they are over. An `onJobEnqueued` hook.
 */
export async function planToTellOfWait(deps: HookDeps, tx: Tx, { row }: JobRecord): Promise<void> {
  // An agent, a trigger or a service has no channels.
  if (row.created_by_name === null) return;
  const own = (await listChannels(tx, row.workspace_id)).filter(
    (channel) => channel.person_id === row.created_by && hears('job_waits')(channel),
  );
  if (own.length === 0) return;
  const content = {
    jobTitle: titleOfRow({ title: row.title, beginning: row.prompt }),
    question: null,
    recommended: null,
    outcome: null,
    isApproval: false,
    deadlineAtMs: null,
    isOfSession: false,
    isLowRisk: false,
    othersWaiting: 0,
  };
  const told = { event: 'job_waits' as const, subjectId: row.job_id, content };
  await raise(deps, tx, own, told, tx.nowMs + WAIT_MS);
}

function hears(event: ChannelEvent) {
  return ({ stopped_at, events }: ChannelRow) =>
    stopped_at === null && (JSON.parse(events) as string[]).includes(event);
}

interface Told {
  event: ChannelEvent;
  subjectId: string;
  content: NotificationContent;
}

function isRisky({ kind }: Pick<UncertaintyRow, 'kind'>): boolean {
  return kind === 'approval' || kind === 'risk';
}

/** As for answering alike questions together, the asker says that the impact is low. */
function isLowRisk(asked: Pick<UncertaintyRow, 'kind' | 'impact'>): boolean {
  return asked.impact.trim().toLowerCase() === 'low' && !isRisky(asked);
}

/** Whether the person wants to be told of such questions by the channel. */
function hearsOf({ questions }: ChannelRow, asked: Pick<UncertaintyRow, 'kind'>): boolean {
  return questions === 'all' || (questions === 'risky') === isRisky(asked);
}

async function raise(
  deps: HookDeps,
  tx: Tx,
  channels: readonly ChannelRow[],
  told: Told,
  atMs: number,
): Promise<void> {
  for (const channel of channels) {
    await addNotification(tx, makeRow(deps, channel, told, { atMs, nowMs: tx.nowMs }));
  }
}

function makeRow(
  { ids }: HookDeps,
  { workspace_id, channel_id, person_id, after_minutes }: ChannelRow,
  { event, subjectId, content }: Told,
  { atMs, nowMs }: { atMs: number; nowMs: number },
): NotificationRow {
  const due_at = event === 'decision' ? atMs + after_minutes * MINUTE_MS : atMs;
  return {
    workspace_id,
    notification_id: ids('notification'),
    channel_id,
    person_id,
    event,
    subject_id: subjectId,
    content: JSON.stringify(content),
    state: 'waiting',
    attempts: 0,
    turn_at: atMs,
    due_at,
    held_by: null,
    failure: null,
    receipt: null,
    edit_at: null,
    created_at: nowMs,
    ended_at: null,
  };
}

/** Passes on the questions that wait with a person who has left. An `onMemberLeft` hook. */
export async function passOnOfMember(
  _deps: HookDeps,
  tx: Tx,
  { workspaceId, personId }: { workspaceId: string; personId: string },
): Promise<void> {
  await passQuestionsOn(tx, workspaceId, personId);
}
