import { ATTEMPTS_MAX_DEFAULT, DECISION_AGENT_PREFERENCE_MS, type Job } from '@signalbox/contract';
import { agentStatusAt } from '../agents/present.ts';
import { readAgent } from '../agents/store.ts';
import { timestampOf } from '../base/clock.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { addJob } from '../jobs/enqueue.ts';
import { requirementsOfApplication } from '../jobs/limit-child.ts';
import { findJob, type JobRecord } from '../jobs/require-job.ts';
import { requeueJob } from '../jobs/retry.ts';
import { updateJob } from '../jobs/store.ts';
import { recordJobEvent } from '../jobs/store-events.ts';
import { titleOf } from '../jobs/title.ts';
import type { Entry } from '../queue/entry.ts';
import { requireRun } from '../runs/upsert.ts';
import { type AfterCompletion, type HookDeps, runHooks } from '../start/hooks.ts';
import { composeApplication } from './application-prompt.ts';
import { isToBeApplied } from './policy.ts';
import {
  listUnseenAnswers,
  readOpenOfJob,
  type UncertaintyRow,
  updateAnswerJob,
  updateAnswersSeen,
} from './store.ts';
import { type ResolutionRow, readResolution } from './store-resolutions.ts';

/*
 * Every answer is handed over to one job, exactly once, in the transaction that makes it necessary.
 *
 * If the job that asked is pending, running or blocked, it gets the answer attached. A blocked job
 * returns to the queue at once. The others receive the answer at their next claim, or when they
 * wait for it. If such a job ends its attempt as blocked without having received the answer, it
 * returns to the queue at once; if it is done without having received it, an `apply_decision` job
 * gets it.
 *
 * If the job that asked has ended, or no job asked, an `apply_decision` job gets the answer.
 */

/** The contract's limit of a job's `decisions`. */
const DECISIONS_MAX = 100;

/** An answer, and the actor that causes it to be handed over now. */
export interface Answer {
  uncertainty: UncertaintyRow;
  resolution: ResolutionRow;
  by: string;
}

/**
 * Hands over a new answer. An answer that supersedes another replaces it where that is possible.
 */
export async function handOverAnswer(deps: HookDeps, tx: Tx, answer: Answer): Promise<void> {
  const { uncertainty, resolution } = answer;
  const { workspace_id: workspaceId, job_id: jobId } = uncertainty;
  await cancelApplication(deps, tx, answer);
  const record = jobId === null ? null : await findJob(tx, workspaceId, jobId);
  if (record?.entry.status === 'blocked') {
    await resumeJob(deps, tx, await attachAnswer(tx, record, answer), answer);
  } else if (record?.entry.status === 'pending' || record?.entry.status === 'running') {
    await attachAnswer(tx, record, answer);
    recordJobEvent(tx, record.entry, {
      kind: 'heartbeat',
      agentId: null,
      message: decisionWords(uncertainty, resolution),
      data: { by: answer.by, decision: describeDecision(uncertainty, resolution) },
    });
    // A job that found the answer itself knows it.
    const isSeen = resolution.created_by_job_id === jobId;
    if (isSeen) await updateAnswerJob(tx, uncertainty, jobId, { isSeen });
  } else {
    await enqueueApplication(deps, tx, answer, record);
  }
}

/**
 * Hands over the answers that a completed job has not received: a blocked job returns to the queue,
 * and for a done job others apply them. The `onJobCompleted` hook of uncertainties.
 */
export async function handOverUnseen(deps: HookDeps, tx: Tx): Promise<AfterCompletion> {
  return (record, agentId) => handOverUnseenOf(deps, tx, record, agentId);
}

async function handOverUnseenOf(
  deps: HookDeps,
  tx: Tx,
  record: JobRecord,
  agentId: string,
): Promise<JobRecord> {
  const { entry, row } = record;
  const { workspace_id: workspaceId, job_id: jobId } = row;
  const unseen = row.decisions === '[]' ? [] : await listUnseenAnswers(tx, workspaceId, jobId);
  const answers: Answer[] = [];
  for (const uncertainty of unseen) {
    const resolution = await readResolution(tx, workspaceId, uncertainty.uncertainty_id);
    assert(resolution !== undefined, 'an answer that was handed over has a resolution');
    answers.push({ uncertainty, resolution, by: agentId });
  }
  const last = answers.at(-1);
  if (entry.status === 'blocked') {
    return last === undefined ? recordWait(tx, record) : resumeJob(deps, tx, record, last);
  }
  if (entry.status !== 'done') return record;
  let ended = record;
  for (const answer of answers) {
    ended = await detachAnswer(tx, ended, answer.uncertainty);
    await enqueueApplication(deps, tx, answer, ended);
  }
  return ended;
}

/**
 * Records that a job has received its answers. The `onDecisionsDelivered` hook of uncertainties.
 */
export function recordAnswersSeen(
  _deps: HookDeps,
  tx: Tx,
  { workspaceId, jobId }: { workspaceId: string; jobId: string },
): Promise<void> {
  return updateAnswersSeen(tx, workspaceId, jobId, null);
}

/** Records the oldest open decision request of a blocked job as the one that it waits on. */
export async function recordWait(tx: Tx, { entry, row }: JobRecord): Promise<JobRecord> {
  const open =
    entry.status === 'blocked' ? await readOpenOfJob(tx, row.workspace_id, row.job_id) : undefined;
  const waitsOn = open?.uncertainty_id ?? null;
  if (waitsOn === row.waiting_on_uncertainty_id) return { entry, row };
  await updateJob(tx, row, { waiting_on_uncertainty_id: waitsOn });
  return { entry, row: { ...row, waiting_on_uncertainty_id: waitsOn } };
}

/**
 * Returns a blocked job to the queue, reserved for the agent that held it. The attempt that asked
 * did not fail, so the job gets one more if none remains.
 */
async function resumeJob(
  deps: HookDeps,
  tx: Tx,
  record: JobRecord,
  { uncertainty, resolution, by }: Answer,
): Promise<JobRecord> {
  return requeueJob(deps, tx, record, {
    cause: 'decision',
    preference: await findPreference(tx, record.entry),
    message: decisionWords(uncertainty, resolution),
    data: { by, decision: describeDecision(uncertainty, resolution) },
  });
}

/** Reserves the job for the agent that held it, if that agent is online. */
async function findPreference(tx: Tx, entry: Entry) {
  const { workspace_id: workspaceId, agent_id: agentId } = entry;
  const agent = agentId === null ? undefined : await readAgent(tx, workspaceId, agentId);
  if (agent === undefined || agentStatusAt(agent, tx.nowMs) !== 'online') return null;
  return { agentId: agent.agent_id, untilMs: tx.nowMs + DECISION_AGENT_PREFERENCE_MS };
}

async function attachAnswer(
  tx: Tx,
  { entry, row }: JobRecord,
  { uncertainty, resolution }: Answer,
): Promise<JobRecord> {
  const decision: Job['decisions'][number] = {
    uncertaintyId: uncertainty.uncertainty_id,
    prompt: uncertainty.prompt,
    mode: resolution.mode,
    value: resolution.value,
    by: resolution.created_by,
    resolvedAt: timestampOf(resolution.created_at),
  };
  const decisions = [...othersThan(row.decisions, uncertainty), decision].slice(-DECISIONS_MAX);
  const set = { decisions: JSON.stringify(decisions) };
  await updateJob(tx, row, set);
  await updateAnswerJob(tx, uncertainty, row.job_id, { isSeen: false });
  return { entry, row: { ...row, ...set } };
}

async function detachAnswer(
  tx: Tx,
  { entry, row }: JobRecord,
  uncertainty: UncertaintyRow,
): Promise<JobRecord> {
  const set = { decisions: JSON.stringify(othersThan(row.decisions, uncertainty)) };
  await updateJob(tx, row, set);
  await updateAnswerJob(tx, uncertainty, null, { isSeen: false });
  return { entry, row: { ...row, ...set } };
}

function othersThan(decisions: string, uncertainty: UncertaintyRow): Job['decisions'] {
  // Only this file writes the column.
  const all = JSON.parse(decisions) as Job['decisions'];
  return all.filter(({ uncertaintyId }) => uncertaintyId !== uncertainty.uncertainty_id);
}

/**
 * Enqueues an `apply_decision` job that applies an answer to the run's repository. Its prompt has
 * what the asking job's tool wrote, so it is a child of that job, and within the same limits. The
 * answer counts where these leave no room for it: the timeline says that it is not applied.
 *
 * @param asker the job that asked, if it still exists.
 */
async function enqueueApplication(
  deps: HookDeps,
  tx: Tx,
  answer: Answer,
  asker: JobRecord | null,
): Promise<void> {
  const { uncertainty, resolution } = answer;
  if (!isToBeApplied(uncertainty, resolution)) return;
  try {
    const jobId = await addApplication(deps, tx, answer, asker);
    await updateAnswerJob(tx, uncertainty, jobId, { isSeen: true });
  } catch (error) {
    const isFull = error instanceof HubError && error.code === 'LIMIT_REACHED';
    if (!isFull || asker === null) throw error;
    recordJobEvent(tx, asker.entry, {
      kind: 'log',
      agentId: null,
      message: `The answer is not applied. ${error.message}`,
      data: { decision: describeDecision(uncertainty, resolution) },
    });
  }
}

async function addApplication(
  deps: HookDeps,
  tx: Tx,
  { uncertainty, resolution, by }: Answer,
  asker: JobRecord | null,
): Promise<string> {
  const { workspace_id: workspaceId, run_id: runId } = uncertainty;
  const run = runId === null ? null : await requireRun(tx, workspaceId, runId);
  const repoId = run?.repo_id ?? uncertainty.repo_id;
  assert(repoId !== null, 'a question without a run has the repository of its job');
  const requirements = asker === null ? undefined : requirementsOfApplication(asker.row);
  const { row } = await addJob(
    deps,
    tx,
    { id: by, name: resolution.created_by_id === by ? resolution.created_by : null },
    {
      workspaceId,
      repoId,
      ...(runId === null ? {} : { runId }),
      kind: 'apply_decision',
      role: 'implementer',
      prompt: composeApplication(uncertainty, resolution),
      priority: Math.min(0, asker?.entry.priority ?? 0),
      maxAttempts: ATTEMPTS_MAX_DEFAULT,
      delayMs: 0,
      dependsOn: [],
      ...(asker?.row.base_branch != null && { base: asker.row.base_branch }),
      parentJobId: asker?.row.job_id,
      ...(requirements !== undefined && { requirements }),
    },
    { origin: { decision: describeDecision(uncertainty, resolution) } },
  );
  return row.job_id;
}

/** Cancels the job that was to apply the superseded answer, if no agent has claimed it yet. */
async function cancelApplication(
  deps: HookDeps,
  tx: Tx,
  { uncertainty, resolution, by }: Answer,
): Promise<void> {
  const { workspace_id: workspaceId, answer_job_id: jobId } = uncertainty;
  if (jobId === null || jobId === uncertainty.job_id) return;
  const application = await findJob(tx, workspaceId, jobId);
  if (application?.entry.status !== 'pending') return;
  const { entry } = application;
  await deps.queue.cancel(tx, entry);
  recordJobEvent(tx, entry, {
    kind: 'canceled',
    agentId: null,
    message: 'A later answer supersedes the one that this job was to apply.',
    data: { by, decision: describeDecision(uncertainty, resolution) },
  });
  await runHooks(deps.hooks.onJobEnded, deps, tx, { workspaceId, jobId });
}

/** The answer in a line for the timeline: `Ada answered “Which port?”: 8080`. */
function decisionWords({ prompt }: UncertaintyRow, resolution: ResolutionRow): string {
  const { mode, value, created_by: by } = resolution;
  const asked = `“${titleOf(prompt)}”`;
  if (mode === 'dismissed') return `${by ?? 'The end of the job'} dismissed ${asked}`;
  const deed = mode === 'assumed' ? 'accepted the assumed value for' : 'answered';
  return `${by ?? 'The deadline'} ${deed} ${asked}: ${titleOf(value)}`;
}

function describeDecision(uncertainty: UncertaintyRow, resolution: ResolutionRow) {
  return {
    uncertaintyId: uncertainty.uncertainty_id,
    decisionRequestId: uncertainty.decision_request_id,
    resolutionId: resolution.resolution_id,
    mode: resolution.mode,
  };
}
