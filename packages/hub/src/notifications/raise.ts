import type { UncertaintyKind } from '@signalbox/contract';
import { listOwnerIds } from '../access/store.ts';
import type { Tx } from '../db/engine.ts';
import type { JobRecord } from '../jobs/require-job.ts';
import { readJobTitles } from '../jobs/store-whole.ts';
import { titleOfRow } from '../jobs/title.ts';
import type { AfterCompletion, HookDeps, JobKey } from '../start/hooks.ts';
import { readWorkspace } from '../workspaces/store.ts';
import type { NotificationContent } from './content.ts';
import {
  addNotification,
  type ChannelRow,
  endWaiting,
  listChannels,
  type NotificationRow,
} from './store.ts';
import { WAIT_MS } from './waiting-jobs.ts';

/** More of a question is in no message. */
const QUESTION_CHARS_MAX = 1_000;
/** Of the recommended answer, which a button shows. */
const RECOMMENDED_CHARS_MAX = 200;
const MINUTE_MS = 60_000;

type ChannelEvent = NotificationRow['event'];

/** The part of a decision request that is told. */
interface AskedDecision {
  workspace_id: string;
  uncertainty_id: string;
  job_id: string | null;
  prompt: string;
  requested_by: string | null;
  kind: UncertaintyKind;
  deadline_at: number | null;
  /** JSON array of options. */
  options: string;
  recommended_value: string | null;
  /** JSON; null: no session of a person asks. */
  session: string | null;
}

/**
 * Tells of a decision request: the person who enqueued the job, and the owners when it is not
 * answered for some minutes; or every member with a channel for it when that person has none. Of
 * their own session, only that person is told. An `onDecisionRequested` hook.
 */
export async function notifyOfDecision(
  deps: HookDeps,
  tx: Tx,
  asked: AskedDecision,
): Promise<void> {
  const { workspace_id: workspaceId, uncertainty_id: subjectId, job_id: jobId } = asked;
  const channels = (await listChannels(tx, workspaceId)).filter(hears('decision'));
  if (channels.length === 0) return;
  const own = channels.filter(({ person_id }) => person_id === asked.requested_by);
  const titles = jobId === null ? null : await readJobTitles(tx, workspaceId, [jobId]);
  const jobTitle = (jobId === null ? undefined : titles?.get(jobId)) ?? null;
  const question = asked.prompt.slice(0, QUESTION_CHARS_MAX);
  const content = {
    ...{ jobTitle, question, recommended: recommendedOf(asked), outcome: null },
    ...{ isApproval: asked.kind === 'approval', deadlineAtMs: asked.deadline_at },
    isOfSession: asked.session !== null,
  };
  const told = { event: 'decision' as const, subjectId, content };
  const isPrivate = asked.session !== null;
  await raise(deps, tx, own.length > 0 || isPrivate ? own : channels, told, tx.nowMs);
  if (isPrivate || own.length === 0 || own.length === channels.length) return;
  const afterMinutes = (await readWorkspace(tx, workspaceId))?.ask_owners_after_minutes ?? 0;
  if (afterMinutes === 0) return;
  const owners = new Set(await listOwnerIds(tx, workspaceId));
  const next = channels.filter((one) => owners.has(one.person_id) && !own.includes(one));
  await raise(deps, tx, next, told, tx.nowMs + afterMinutes * MINUTE_MS);
}

/** The label of the recommended answer, as the console shows it. */
function recommendedOf({ options, recommended_value: value }: AskedDecision): string | null {
  const known = (JSON.parse(options) as { value: string; label?: string }[]).find(
    (option) => option.value === value,
  );
  const shown = known?.label?.trim() || value?.trim() || null;
  return shown === null ? null : shown.slice(0, RECOMMENDED_CHARS_MAX);
}

/** A decision is resolved: messages about it that wait are not sent any more. */
export async function settleDecision(
  _deps: HookDeps,
  tx: Tx,
  { workspace_id, uncertainty_id }: Pick<AskedDecision, 'workspace_id' | 'uncertainty_id'>,
): Promise<void> {
  const end = { state: 'settled' as const, failure: null };
  await endWaiting(tx, { workspace_id, subject_id: uncertainty_id }, end);
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
      ...{ jobTitle, question: null, recommended: null, outcome: entry.status },
      ...{ isApproval: false, deadlineAtMs: null, isOfSession: false },
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
    ...{ jobTitle: titleOfRow({ title: row.title, beginning: row.prompt }), question: null },
    ...{ recommended: null, outcome: null, isApproval: false, deadlineAtMs: null },
    ...{ isOfSession: false, othersWaiting: 0 },
  };
  const told = { event: 'job_waits' as const, subjectId: row.job_id, content };
  await raise(deps, tx, own, told, tx.nowMs + WAIT_MS);
}

function hears(event: ChannelEvent) {
  return ({ stopped_at, events }: ChannelRow) =>
    stopped_at === null && (JSON.parse(events) as string[]).includes(event);
}

async function raise(
  { ids }: HookDeps,
  tx: Tx,
  channels: readonly ChannelRow[],
  told: { event: ChannelEvent; subjectId: string; content: NotificationContent },
  dueAtMs: number,
): Promise<void> {
  for (const { workspace_id, channel_id, person_id } of channels) {
    await addNotification(tx, {
      ...{ workspace_id, notification_id: ids('notification'), channel_id, person_id },
      ...{ event: told.event, subject_id: told.subjectId, content: JSON.stringify(told.content) },
      ...{ state: 'waiting', attempts: 0, due_at: dueAtMs, failure: null },
      ...{ created_at: tx.nowMs, ended_at: null },
    });
  }
}
