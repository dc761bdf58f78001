import { ATTEMPTS_MAX_DEFAULT, DECISION_AGENT_PREFERENCE_MS, type Job } from '@signalbox/contract';
import { agentStatusAt } from '../agents/present.ts';
import { readAgent } from '../agents/store.ts';
import { timestampOf } from '../clock.ts';
import type { Tx } from '../db/engine.ts';
import { assert } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { addJob, findJob, type JobRecord } from '../jobs/actions.ts';
import { updateJobDecisions, updateJobOutcome, updateJobWait } from '../jobs/store.ts';
import { appendEvent } from '../jobs/store-events.ts';
import type { Entry } from '../queue/entry.ts';
import { requireRun } from '../runs/actions.ts';
import { composeApplication } from './application-prompt.ts';
import { isToBeApplied } from './policy.ts';
import { listUnseenAnswers, readOpenOfJob, type UncertaintyRow, updateAnswerJob } from './store.ts';
import { type ResolutionRow, readResolution } from './store-resolutions.ts';

/*
 * An answer is handed to one job, exactly once, in the action that makes it so: to the job that
 * asked while that one is pending, running or blocked, and otherwise to an `apply_decision` job.
 * A blocked job goes back to pending with it. A pending or running one has it attached, and learns
 * of it at its next claim, or by waiting for it. If it ends its attempt as blocked without knowing
 * the answer, it goes straight back; if it is done without knowing it, an `apply_decision` job is
 * enqueued after all.
 */

/** The schema's bound of a job's `decisions`. */
const DECISIONS_MAX = 100;

/** An answer, and whose doing it is that it is handed over now. */
export interface Answer {
  uncertainty: UncertaintyRow;
  resolution: ResolutionRow;
  by: string;
}

/** Hands a new answer over; one that supersedes another takes its place where that is possible. */
export async function handOverAnswer(deps: HubDeps, tx: Tx, answer: Answer): Promise<void> {
  const { uncertainty, resolution } = answer;
  const { workspace_id: workspaceId, job_id: jobId } = uncertainty;
  await recallApplication(deps, tx, answer);
  const record = jobId === null ? null : await findJob(tx, workspaceId, jobId);
  if (record?.entry.status === 'blocked') {
    await resumeJob(deps, tx, await attachAnswer(tx, record, answer), answer);
  } else if (record?.entry.status === 'pending' || record?.entry.status === 'running') {
    await attachAnswer(tx, record, answer);
    // The job that found the answer knows it.
    const isSeen = resolution.created_by_job_id === jobId;
    if (isSeen) await updateAnswerJob(tx, uncertainty, jobId, { isSeen });
  } else {
    await enqueueApplication(deps, tx, answer, record?.row.job_id);
  }
}

/** After an accepted completion: what became of answers and of questions of the job. */
export async function settleCompletion(
  deps: HubDeps,
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
    assert(resolution !== undefined, 'an answer that was handed over is there');
    answers.push({ uncertainty, resolution, by: agentId });
  }
  const last = answers.at(-1);
  if (entry.status === 'blocked') {
    return last === undefined ? noteWait(tx, record) : resumeJob(deps, tx, record, last);
  }
  if (entry.status !== 'done') return record;
  let ended = record;
  for (const answer of answers) {
    ended = await detachAnswer(tx, ended, answer.uncertainty);
    await enqueueApplication(deps, tx, answer, jobId);
  }
  return ended;
}

/** A blocked job says on which decision request it waits: the oldest that is open. */
export async function noteWait(tx: Tx, { entry, row }: JobRecord): Promise<JobRecord> {
  const open =
    entry.status === 'blocked' ? await readOpenOfJob(tx, row.workspace_id, row.job_id) : undefined;
  const waitsOn = open?.uncertainty_id ?? null;
  if (waitsOn === row.waiting_on_uncertainty_id) return { entry, row };
  await updateJobWait(tx, row, waitsOn);
  return { entry, row: { ...row, waiting_on_uncertainty_id: waitsOn } };
}

/** Sends a blocked job on, first to the agent that held it, with an attempt to do so. */
async function resumeJob(
  deps: HubDeps,
  tx: Tx,
  { entry, row }: JobRecord,
  { uncertainty, resolution, by }: Answer,
): Promise<JobRecord> {
  const pending = await deps.queue.requeue(tx, entry, 'decision', {
    // The attempt that asked did not fail, so it takes none away.
    attemptsMax: Math.max(entry.attempts_max, entry.attempt + 1),
    preference: await findPreference(tx, entry),
  });
  const cleared = {
    ...row,
    outcome: null,
    outcome_reason: null,
    message: null,
    waiting_on_uncertainty_id: null,
  };
  await updateJobOutcome(tx, row, cleared);
  if (row.waiting_on_uncertainty_id !== null) await updateJobWait(tx, row, null);
  await appendEvent(tx, {
    eventId: deps.ids('jobEvent'),
    workspaceId: row.workspace_id,
    jobId: row.job_id,
    kind: 'enqueued',
    attempt: pending.attempt,
    agentId: null,
    data: { by, decision: describeDecision(uncertainty, resolution) },
  });
  return { entry: pending, row: cleared };
}

/** Nobody waits for an agent that is away. */
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
    resolvedAt: timestampOf(resolution.created_at),
  };
  const decisions = [...othersThan(row.decisions, uncertainty), decision].slice(-DECISIONS_MAX);
  const changed = { ...row, decisions: JSON.stringify(decisions) };
  await updateJobDecisions(tx, changed);
  await updateAnswerJob(tx, uncertainty, row.job_id, { isSeen: false });
  return { entry, row: changed };
}

async function detachAnswer(
  tx: Tx,
  { entry, row }: JobRecord,
  uncertainty: UncertaintyRow,
): Promise<JobRecord> {
  const changed = { ...row, decisions: JSON.stringify(othersThan(row.decisions, uncertainty)) };
  await updateJobDecisions(tx, changed);
  await updateAnswerJob(tx, uncertainty, null, { isSeen: false });
  return { entry, row: changed };
}

function othersThan(decisions: string, uncertainty: UncertaintyRow): Job['decisions'] {
  // Written by this file alone.
  const all = JSON.parse(decisions) as Job['decisions'];
  return all.filter(({ uncertaintyId }) => uncertaintyId !== uncertainty.uncertainty_id);
}

/**
 * No job is there to take the answer: one is made that applies it to the run's repository.
 *
 * @param parentJobId the job that asked, if it is still there.
 */
async function enqueueApplication(
  deps: HubDeps,
  tx: Tx,
  { uncertainty, resolution, by }: Answer,
  parentJobId: string | undefined,
): Promise<void> {
  if (!isToBeApplied(uncertainty, resolution)) return;
  const { workspace_id: workspaceId, run_id: runId } = uncertainty;
  const run = await requireRun(tx, workspaceId, runId);
  const { row } = await addJob(
    deps,
    tx,
    by,
    {
      workspaceId,
      repoId: run.repo_id,
      runId,
      kind: 'apply_decision',
      role: 'implementer',
      prompt: composeApplication(uncertainty, resolution),
      priority: 0,
      maxAttempts: ATTEMPTS_MAX_DEFAULT,
      delayMs: 0,
      dependsOn: [],
      parentJobId,
    },
    { decision: describeDecision(uncertainty, resolution) },
  );
  await updateAnswerJob(tx, uncertainty, row.job_id, { isSeen: true });
}

/** An answer was superseded before the job made to apply it was claimed: that job goes away. */
async function recallApplication(
  deps: HubDeps,
  tx: Tx,
  { uncertainty, resolution, by }: Answer,
): Promise<void> {
  const { workspace_id: workspaceId, answer_job_id: jobId } = uncertainty;
  if (jobId === null || jobId === uncertainty.job_id) return;
  const application = await findJob(tx, workspaceId, jobId);
  if (application?.entry.status !== 'pending') return;
  const { entry } = application;
  await deps.queue.cancel(tx, entry);
  await appendEvent(tx, {
    eventId: deps.ids('jobEvent'),
    workspaceId,
    jobId,
    kind: 'canceled',
    attempt: entry.attempt,
    agentId: null,
    message: 'A later answer supersedes the one that this job was to apply.',
    data: { by, decision: describeDecision(uncertainty, resolution) },
  });
}

function describeDecision(uncertainty: UncertaintyRow, resolution: ResolutionRow) {
  return {
    uncertaintyId: uncertainty.uncertainty_id,
    decisionRequestId: uncertainty.decision_request_id,
    resolutionId: resolution.resolution_id,
    mode: resolution.mode,
  };
}
