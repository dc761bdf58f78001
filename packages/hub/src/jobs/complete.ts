import type { AnswerOf, ChildJob, endpoints, RequestInput, Usage } from '@signalbox/contract';
import type { RequestContext } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { sendUpdate } from '../db/row-write.ts';
import { shortHashJson } from '../idempotency/answer-once.ts';
import type { Entry } from '../queue/entry.ts';
import { completeLease } from '../queue/leased-work.ts';
import { asObject } from '../queue/matching.ts';
import { attemptOf, generationOf } from '../queue/states.ts';
import type { Preference } from '../queue/store.ts';
import { requireRun } from '../runs/upsert.ts';
import { type AfterCompletion, runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { addUsage } from './add-usage.ts';
import { continueWithMessages } from './continue.ts';
import { addJob } from './enqueue.ts';
import { type ChildrenParent, limitChild } from './limit-child.ts';
import { judgeChange, verdictOf } from './policy.ts';
import { findPreference } from './preference.ts';
import { presentJob } from './present.ts';
import { checkLanding, recordLanding } from './record-landing.ts';
import { findJob, type JobRecord, requireJobOfAgent } from './require-job.ts';
import { type JobResult, type JobRow, noResult, updateJobOutcome } from './store.ts';
import { countOutcomes, hasClaimed, hasLateEvidence, recordJobEvent } from './store-events.ts';
import { recordDelivered } from './take-messages.ts';

const TOOL_NAME_CHARS_MAX = 64;

type CompleteInput = RequestInput<typeof endpoints.jobs.complete.request>;
type CompleteAnswer = AnswerOf<typeof endpoints.jobs.complete>;
type CompleteResult = CompleteAnswer['result'];

/**
 * Completes a job: accepted exactly once. A replay of the accepted completion gets the same answer.
 * A completion from a lost attempt is refused, and the timeline keeps its evidence.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, a refusal of `checkClaim`, JOB_CANCELED,
 *   RUN_NOT_FOUND, and what `limitChild` and `addJob` throw for a child.
 */
export function completeJob(
  deps: HubDeps,
  { principal }: RequestContext,
  input: CompleteInput,
): Promise<CompleteAnswer> {
  const hash = shortHashJson(input);
  let following: readonly AfterCompletion[] = [];
  return completeLease(deps, input.jobId, input, hash, {
    async read(tx) {
      // Sent together: one round trip on PostgreSQL. The first statement locks the job.
      const [record, ...found] = await Promise.all([
        requireJobOfAgent(tx, principal, input),
        ...deps.hooks.onJobCompleted.map((hook) => hook(deps, tx, input)),
      ]);
      following = found;
      return record;
    },
    accepted: ({ row }) =>
      row.completion_hash === null
        ? null
        : { hash: row.completion_hash, attempt: row.completion_attempt ?? 0 },
    replay: ({ entry, row }) => {
      const result =
        row.completion_answer === null
          ? plainResult(input)
          : (JSON.parse(row.completion_answer) as CompleteResult);
      return { result: { ...result, idempotent: true }, job: presentJob(entry, row) };
    },
    async accept(tx, record, isAwaited) {
      await checkCompletion(tx, record.row, input);
      return acceptCompletion(deps, tx, record, { input, hash, isAwaited, following });
    },
    keepLate: (tx, record) => keepLateEvidence(tx, record, input, hash),
    async recordCanceled(tx, record) {
      const { usage } = input;
      await keepLateEvidence(tx, record, input, hash);
      updateJobOutcome(tx, { ...record.row, usage: usageWith(record.row, input) });
      recordJobEvent(tx, record.entry, {
        kind: 'canceled',
        agentId: input.agentId,
        data: usage === undefined ? null : { usage },
      });
      await runHooks(deps.hooks.onJobEnded, deps, tx, input);
    },
  });
}

async function checkCompletion(tx: Tx, row: JobRow, input: CompleteInput): Promise<void> {
  if (input.runId !== undefined) await requireRun(tx, input.workspaceId, input.runId);
  checkLanding(row, input);
  // `onJobCompleted` may hand answers over, a landing ends a work, and the job of a missing base is
  // read: no other transaction may change those at the same time.
  const isLanding = row.lands_job_id !== null;
  if (row.decisions !== '[]' || isLanding || missingBaseOf(input) !== null) tx.requireExclusive();
}

interface Completion {
  input: CompleteInput;
  hash: string;
  /** Whether other jobs depend on this one. */
  isAwaited: boolean;
  following: readonly AfterCompletion[];
}

async function acceptCompletion(
  deps: HubDeps,
  tx: Tx,
  { entry, row }: JobRecord,
  { input, hash, isAwaited, following }: Completion,
): Promise<CompleteAnswer> {
  await recordDelivered(tx, row, input.messagesDelivered ?? []);
  const retryDelayMs = await findRetryDelay(deps, tx, entry, input);
  const isRetried = retryDelayMs !== null;
  const completed: JobRow = {
    ...row,
    run_id: row.run_id ?? input.runId ?? null,
    // A job that is retried has no result yet; its timeline keeps the result of this attempt.
    ...(isRetried ? noResult : resultOf(row, input)),
    usage: usageWith(row, input),
    ...toolUsed(row, input),
    completion_hash: hash,
    completion_attempt: entry.attempt,
    completion_answer: null,
  };
  const moved = isRetried
    ? await deps.queue.requeue(tx, entry, 'retryable-outcome', {
        delayMs: retryDelayMs,
        preference: await preferBase(tx, row, input),
        attemptsMax: entry.attempts_max + (spendsAttempt(entry, input) ? 0 : 1),
      })
    : await deps.queue.finish(tx, entry, input.outcome, { isAwaited });
  recordJobEvent(tx, entry, {
    kind: input.outcome === 'done' ? 'completed' : input.outcome,
    message: input.message,
    data: outcomeData(input, isRetried ? { retryDelayMs } : {}),
  });
  // Before the hooks: a hook may clear the outcome again, and the last write counts.
  updateJobOutcome(tx, completed);
  const spawnedJobIds: string[] = [];
  // The next attempt sends its own children: those of this one would be there twice.
  const children = isRetried ? [] : input.children;
  const parent = { entry, row, runId: completed.run_id };
  // Validation has filled in the defaults of each child; RequestInput says so of the top only.
  for (const [at, child] of (children as RequestInput<typeof ChildJob>[]).entries()) {
    const limited = await limitChild(tx, parent, child, `/children/${at}`);
    spawnedJobIds.push(await addChild(deps, tx, parent, limited, input.agentId));
  }
  let job: JobRecord = { entry: moved, row: completed };
  if (!isRetried) await deps.hooks.keepFates(tx, job, input.commentFates ?? []);
  if (!isRetried) await recordLanding(tx, row, input.landing);
  for (const follow of following) job = await follow(job, input.agentId);
  // The completion holds the job's lock, so that a message comes before it or finds the job done.
  if (job.entry.status === 'done') await continueWithMessages(deps, tx, job);
  // Its status is that after the hooks.
  const result = { ...plainResult(input), status: job.entry.status, spawnedJobIds };
  if (result.status !== input.outcome || spawnedJobIds.length > 0) {
    const { workspace_id, job_id } = job.row;
    const answer = JSON.stringify(result);
    sendUpdate(tx, 'jobs', { workspace_id, job_id }, { completion_answer: answer });
  }
  return { result, job: presentJob(job.entry, job.row) };
}

/**
 * The result of most completions: the job has the status that its outcome names, and no children.
 * It is not stored, because a replay names the same outcome.
 */
function plainResult({ jobId, outcome }: CompleteInput): CompleteResult {
  return { jobId, status: outcome, outcome, idempotent: false, spawnedJobIds: [] };
}

/** The usage of all attempts of the job, this one included. */
function usageWith(row: JobRow, { usage }: CompleteInput): string | null {
  const known = row.usage === null ? null : (JSON.parse(row.usage) as Usage);
  return jsonOrNull(addUsage(known, usage) ?? undefined);
}

/** The tool and the model of the attempt, as far as the agent says. */
function toolUsed(row: JobRow, { evidence, usage }: CompleteInput): Pick<JobRow, 'tool' | 'model'> {
  const executor = asObject((evidence as { executor?: unknown } | undefined)?.executor);
  const tool = executor?.tool;
  const isName = typeof tool === 'string' && tool !== '' && tool.length <= TOOL_NAME_CHARS_MAX;
  return { tool: isName ? tool : row.tool, model: usage?.model ?? row.model };
}

function resultOf(row: JobRow, input: CompleteInput): Omit<JobResult, 'usage'> {
  return {
    outcome: input.outcome,
    outcome_reason: jsonOrNull(input.outcomeReason),
    message: input.message ?? null,
    evidence: jsonOrNull(input.evidence),
    changed: judgeChange(row, input),
    verdict: verdictOf(input),
  };
}

/** The delay before the next attempt, or null when this outcome is final. */
async function findRetryDelay(
  deps: HubDeps,
  tx: Tx,
  entry: Entry,
  input: CompleteInput,
): Promise<number | null> {
  const { outcome, outcomeReason: reason, workspaceId, jobId } = input;
  if (outcome === 'done' || typeof reason !== 'object' || reason.retryable !== true) return null;
  const hasAnother = deps.queue.hasAttemptsLeft(entry) || !spendsAttempt(entry, input);
  if (!hasAnother) return null;
  const { occurrencesMax, code } = reason;
  if (occurrencesMax !== undefined && code !== undefined) {
    const before = await countOutcomes(tx, workspaceId, jobId, code);
    if (before + 1 >= occurrencesMax) return null;
  }
  return reason.recommendedDelayMs ?? 0;
}

/** A job whose base is missing goes to the agent that has the commit of that base. */
async function preferBase(
  tx: Tx,
  { workspace_id, repo_id }: JobRow,
  input: CompleteInput,
): Promise<Preference | null> {
  const jobId = missingBaseOf(input);
  const base = jobId === null ? null : await findJob(tx, workspace_id, jobId);
  return base?.row.repo_id === repo_id ? findPreference(tx, base) : null;
}

/** The job whose commit an agent does not have; null: it has all, or does not say. */
function missingBaseOf({ outcomeReason: reason }: CompleteInput): string | null {
  if (typeof reason !== 'object' || reason.code !== 'base_unavailable') return null;
  const jobId = asObject(reason.details)?.jobId;
  return typeof jobId === 'string' ? jobId : null;
}

/** An agent that can never begin must not keep a job from failing for ever. */
const UNSPENT_ATTEMPTS_MAX = 1_000;

function spendsAttempt({ attempt }: Entry, { outcomeReason: reason }: CompleteInput): boolean {
  if (typeof reason !== 'object' || reason.spendsAttempt !== false) return true;
  return attempt >= UNSPENT_ATTEMPTS_MAX;
}

/** Enqueues a child of a completion, in the repository and the run of its parent. */
async function addChild(
  deps: HubDeps,
  tx: Tx,
  { row: parent, runId }: ChildrenParent,
  child: RequestInput<typeof ChildJob>,
  agentId: string,
): Promise<string> {
  const { row } = await addJob(
    deps,
    tx,
    { id: agentId, name: null },
    {
      ...child,
      ...(runId === null ? {} : { runId }),
      workspaceId: parent.workspace_id,
      repoId: parent.repo_id,
      parentJobId: parent.job_id,
    },
  );
  return row.job_id;
}

/** Keeps the content of a refused completion, once, if its agent ever held the job. */
async function keepLateEvidence(
  tx: Tx,
  { entry }: JobRecord,
  input: CompleteInput,
  completionHash: string,
): Promise<void> {
  const { workspaceId, jobId, agentId, outcomeReason: reason } = input;
  // An agent that has stopped tells what it has used; it has no result that could be late.
  if (typeof reason === 'object' && reason.code === 'canceled') return;
  if (!(await hasClaimed(tx, workspaceId, jobId, agentId))) return;
  if (await hasLateEvidence(tx, workspaceId, jobId, completionHash)) return;
  recordJobEvent(tx, entry, {
    kind: 'log',
    attempt: attemptOf(entry, input.claimGeneration ?? generationOf(entry)),
    agentId,
    message: input.message,
    data: outcomeData(input, { late: true, outcome: input.outcome, completionHash }),
  });
}

function outcomeData(
  input: CompleteInput,
  more: Record<string, unknown>,
): Record<string, unknown> | null {
  const data = {
    ...(input.outcomeReason === undefined ? {} : { outcomeReason: input.outcomeReason }),
    ...(input.evidence === undefined ? {} : { evidence: input.evidence }),
    ...(input.usage === undefined ? {} : { usage: input.usage }),
    ...more,
  };
  return Object.keys(data).length === 0 ? null : data;
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
