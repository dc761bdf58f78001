import {
  ACTION_CHARS_MAX,
  type AnswerOf,
  type endpoints,
  type RequestInput,
} from '@signalbox/contract';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { type JobRecord, requireJob, requireJobOfAgent } from '../jobs/require-job.ts';
import { readJob } from '../jobs/store.ts';
import { requireClaim } from '../queue/leased-work.ts';
import { requireRun } from '../runs/upsert.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { answerByRule, findRule } from './answer-by-rule.ts';
import { recordWait } from './hand-over.ts';
import {
  alikeKeyOf,
  isByEndOfJob,
  isPromoted,
  OPEN_QUESTIONS_MAX,
  QUESTIONS_MAX,
} from './policy.ts';
import { countOfJob, readUntakenAction, type UncertaintyRow } from './store.ts';
import { readResolution } from './store-resolutions.ts';

type CreateEndpoint = typeof endpoints.uncertainties.createWithAutoPromotion;
type CreateInput = RequestInput<CreateEndpoint['request']>;
/** The question of a job's tool is always one of its job. */
type ToolInput = CreateInput & { jobId: string; agentId: string };
type CreateAnswer = AnswerOf<CreateEndpoint>;

/**
 * Records an uncertainty. If its confidence is below the threshold, it becomes a decision request
 * at once.
 *
 * @throws HubError RUN_NOT_FOUND, JOB_NOT_FOUND, INVALID_REQUEST, IDEMPOTENCY_CONFLICT; NOT_ALLOWED
 *   and LIMIT_REACHED for a job token.
 */
export async function createUncertainty(
  deps: HubDeps,
  principal: Principal,
  asked: CreateInput,
): Promise<CreateAnswer> {
  const input = principal.job === null ? asked : inputOfTool(principal.job, asked);
  // The fence is no part of the question: a later attempt repeats the same question.
  const { agentId: _agent, claimGeneration: _claim, ...question } = input;
  const { workspaceId } = input;
  const operation = 'uncertaintiesCreateWithAutoPromotion';
  const call = {
    operation,
    principal,
    input: question,
    // The job ended without an answer, and a person has sent it back: it asks again.
    isStale: async (tx: Tx, { uncertaintyId }: CreateAnswer) =>
      isByEndOfJob(await readResolution(tx, workspaceId, uncertaintyId)),
  };
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, call, async () => {
      const record = await readAsker(tx, principal, input);
      const known = await findKnownAction(tx, input);
      if (known !== undefined) return answerOf(known);
      if (principal.job !== null) await requireRoom(tx, principal.job, input);
      const row = makeRow(deps, tx, principal, input, await findPlace(tx, input, record));
      row.requested_by = await findRequester(tx, principal, row);
      row.alike_key = alikeKeyOf(row);
      insertRow(tx, 'uncertainties', row);
      if (record !== null) await recordWait(tx, record);
      await requestAnswer(deps, tx, row);
      return answerOf(row);
    }),
  );
}

/** Has a rule answer a decision request, or tells people of it. */
async function requestAnswer(deps: HubDeps, tx: Tx, row: UncertaintyRow): Promise<void> {
  if (row.decision_request_id === null) return;
  const rule = await findRule(tx, row);
  if (rule !== undefined) await answerByRule(deps, tx, row, rule);
  else await runHooks(deps.hooks.onDecisionRequested, deps, tx, row);
}

/**
 * A tool asks for its job only, and a person answers: it neither lets a deadline answer nor asks in
 * place of its agent, which takes answers about actions for permissions.
 */
function inputOfTool(
  { jobId, agentId }: NonNullable<Principal['job']>,
  asked: CreateInput,
): ToolInput {
  if (asked.onDeadline !== 'keep_waiting') {
    throw new HubError(
      'NOT_ALLOWED',
      'With a job token, only people answer: send onDeadline keep_waiting.',
    );
  }
  if (asked.actionKey !== undefined || asked.action !== undefined) {
    throw new HubError('NOT_ALLOWED', 'Only the agent of a job asks about actions: no actionKey.');
  }
  return { ...asked, jobId, agentId: asked.agentId ?? agentId };
}

/** @throws HubError LIMIT_REACHED */
async function requireRoom(
  tx: Tx,
  { jobId }: NonNullable<Principal['job']>,
  { workspaceId }: CreateInput,
): Promise<void> {
  const { open, all } = await countOfJob(tx, workspaceId, jobId, QUESTIONS_MAX);
  if (open >= OPEN_QUESTIONS_MAX) {
    throw new HubError(
      'LIMIT_REACHED',
      `A job has at most ${OPEN_QUESTIONS_MAX} open questions: wait for answers.`,
    );
  }
  if (all >= QUESTIONS_MAX) {
    throw new HubError('LIMIT_REACHED', `A job records at most ${QUESTIONS_MAX} uncertainties.`);
  }
}

function answerOf(row: UncertaintyRow): CreateAnswer {
  return {
    uncertaintyId: row.uncertainty_id,
    decisionRequestId: row.decision_request_id,
    promoted: row.decision_request_id !== null,
  };
}

/** The job that asks, fenced by its claim if the caller names it; null: no job asks. */
async function readAsker(
  tx: Tx,
  principal: Principal,
  { workspaceId, jobId, agentId, claimGeneration }: CreateInput,
): Promise<JobRecord | null> {
  if (jobId === undefined) return null;
  if (agentId === undefined) return await requireJob(tx, workspaceId, jobId);
  const record = await requireJobOfAgent(tx, principal, { workspaceId, jobId, agentId });
  requireClaim(record.entry, { agentId, claimGeneration });
  return record;
}

/** The same question, asked before about the same action, whose answer is not taken yet. */
async function findKnownAction(
  tx: Tx,
  { workspaceId, jobId, actionKey, action, kind }: CreateInput,
): Promise<UncertaintyRow | undefined> {
  if (action !== undefined && (actionKey === undefined || kind !== 'approval')) {
    throw invalidField('/action', 'needs actionKey, and kind approval');
  }
  if (JSON.stringify(action ?? null).length > ACTION_CHARS_MAX) {
    throw invalidField('/action', `must have at most ${ACTION_CHARS_MAX} characters as JSON`);
  }
  if (actionKey === undefined) return undefined;
  if (jobId === undefined) throw invalidField('/jobId', 'is required with actionKey');
  return await readUntakenAction(tx, workspaceId, jobId, actionKey);
}

/** The run and the repository of a question. A job without a run asks without one. */
async function findPlace(
  tx: Tx,
  { workspaceId, runId }: CreateInput,
  record: JobRecord | null,
): Promise<{ run_id: string | null; repo_id: string }> {
  if (runId !== undefined) {
    const { run_id, repo_id } = await requireRun(tx, workspaceId, runId);
    const jobRunId = record?.row.run_id ?? null;
    if (jobRunId === null || jobRunId === runId) return { run_id, repo_id };
    throw invalidField('/jobId', 'must name a job of the same run');
  }
  if (record === null) throw invalidField('/runId', 'is required without jobId');
  const { run_id, repo_id } = record.row;
  return { run_id, repo_id };
}

/** Who enqueued the job that asks, or who asks without a job. */
async function findRequester(tx: Tx, principal: Principal, row: UncertaintyRow): Promise<string> {
  const { job_id: jobId } = row;
  const asker = jobId === null ? undefined : await readJob(tx, row.workspace_id, jobId);
  return asker?.created_by ?? principal.principalId;
}

function makeRow(
  { ids }: HubDeps,
  tx: Tx,
  principal: Principal,
  input: CreateInput,
  place: Pick<UncertaintyRow, 'run_id' | 'repo_id'>,
): UncertaintyRow {
  const promoted = isPromoted(input);
  const deadlineMs = input.deadlineAt === undefined ? null : Date.parse(input.deadlineAt);
  if (Number.isNaN(deadlineMs)) throw invalidField('/deadlineAt', 'must be a valid timestamp');
  return {
    workspace_id: input.workspaceId,
    uncertainty_id: ids('uncertainty'),
    decision_request_id: promoted ? ids('decisionRequest') : null,
    ...place,
    job_id: input.jobId ?? null,
    status: promoted ? 'open' : 'assumed',
    prompt: input.prompt,
    kind: input.kind,
    context: input.context,
    confidence: input.confidence,
    impact: input.impact,
    reversibility: input.reversibility,
    assumed_value: input.assumedValue,
    assumed_reasoning: input.assumedReasoning,
    auto_promote_threshold: input.autoPromoteThreshold,
    options: JSON.stringify(input.options),
    recommended_value: input.recommendedValue ?? null,
    deadline_at: deadlineMs,
    on_deadline: input.onDeadline,
    created_by: principal.principalId,
    created_by_name: principal.displayName,
    requested_by: null,
    created_at: tx.nowMs,
    promoted_at: promoted ? tx.nowMs : null,
    resolved_at: null,
    answer_job_id: null,
    answer_seen_at: null,
    hand_over_at: null,
    action_key: input.actionKey ?? null,
    taken_at: null,
    taken_by_agent_id: null,
    alike_key: null,
    action: input.action === undefined ? null : JSON.stringify(input.action),
    session: null,
    waited_until: null,
  };
}
