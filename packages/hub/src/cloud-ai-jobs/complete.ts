import type { AnswerOf, CloudAiResult, endpoints, RequestInput } from '@signalbox/contract';
import { compileLater } from '../base/compile-later.ts';
import { assert, invalidField } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import { addContextItem, SUMMARY_SOURCE } from '../context/add-item.ts';
import { type PreparedText, prepareText } from '../context/prepare-text.ts';
import { readItem } from '../context/store.ts';
import type { Tx } from '../db/engine.ts';
import { shortHashJson } from '../idempotency/answer-once.ts';
import { completeLease } from '../queue/leased-work.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { recommendValue } from '../uncertainties/store.ts';
import { DecisionDraft, inputToKeep, itemIdOf, subjectOf } from './hub-questions.ts';
import { presentCloudAiJob } from './present.ts';
import { type CloudAiJobRecord, requireCloudAiJobOfAgent } from './require-cloud-ai-job.ts';
import { type CloudAiJobRow, updateCloudAiEnd } from './store.ts';

type CompleteInput = RequestInput<typeof endpoints.cloudAiJobs.complete.request>;
type CompleteAnswer = AnswerOf<typeof endpoints.cloudAiJobs.complete>;

interface Completion {
  input: CompleteInput;
  hash: string;
  /** The text of the result, if it is long. */
  preparedText: PreparedText | undefined;
  isAwaited: boolean;
}

/** The limit of a title in the contract. */
const TITLE_CHARS_MAX = 1_000;

const decisionDraft = compileLater(DecisionDraft);

/**
 * Completes a cloud AI job: accepted exactly once. A replay of the accepted completion gets the
 * same answer. A completion from a lost attempt is refused and not kept: there is no timeline that
 * could hold it, and a model call can be repeated.
 *
 * @throws HubError CLOUD_AI_JOB_NOT_FOUND, AGENT_NOT_FOUND, a refusal of `checkClaim`,
 *   JOB_CANCELED, or INVALID_REQUEST when the result lacks the requested JSON.
 */
export async function completeCloudAiJob(
  deps: HubDeps,
  { principal }: RequestContext,
  input: CompleteInput,
): Promise<CompleteAnswer> {
  const hash = shortHashJson(input);
  const preparedText = await prepareText(deps, input.workspaceId, summaryOf(input.result));
  return completeLease(deps, input.cloudAiJobId, input, hash, {
    read: (tx) => requireCloudAiJobOfAgent(tx, principal, input),
    // An accepted completion is final here, so the entry's attempt is the accepted one.
    accepted: ({ entry, row }) =>
      row.completion_hash === null ? null : { hash: row.completion_hash, attempt: entry.attempt },
    replay: (record) => answerOf(record, true),
    accept: (tx, record, isAwaited) =>
      acceptCompletion(deps, tx, record, { input, hash, preparedText, isAwaited }),
    async recordCanceled(tx, { row }) {
      updateCloudAiEnd(tx, { ...row, input: inputToKeep(row) });
    },
  });
}

async function acceptCompletion(
  deps: HubDeps,
  tx: Tx,
  { entry, row }: CloudAiJobRecord,
  { input, hash, preparedText, isAwaited }: Completion,
): Promise<CompleteAnswer> {
  requireWantedJson(row, input);
  // The result goes into a context item or an uncertainty, which is read before it is written.
  if (input.outcome === 'done' && row.subject_id !== null) tx.requireExclusive();
  const ended: CloudAiJobRow = {
    ...row,
    input: inputToKeep(row),
    outcome: input.outcome,
    result: jsonOrNull(input.result),
    usage: jsonOrNull(input.usage),
    message: input.message ?? null,
    completion_hash: hash,
  };
  const finished = await deps.queue.finish(tx, entry, input.outcome, { isAwaited });
  updateCloudAiEnd(tx, ended);
  if (input.outcome === 'done') {
    await placeResult(deps, tx, ended, { ...input.result, preparedText });
  }
  return answerOf({ entry: finished, row: ended }, false);
}

/**
 * Requires `result.json` if the job has a schema, since its caller will read it. The executor has
 * checked it against the schema, next to the model: a schema may contain patterns of any cost, and
 * the hub is shared.
 */
function requireWantedJson(row: CloudAiJobRow, { outcome, result }: CompleteInput): void {
  if (outcome === 'done' && row.response_schema !== null && result?.json === undefined) {
    throw invalidField('/result/json', 'must be present, since the job has a responseSchema');
  }
}

/**
 * Writes the result of a job that the hub itself enqueued to its subject. If the subject has
 * changed or was deleted meanwhile, only the job keeps the result. Results of other jobs are left
 * to those who enqueued them.
 */
async function placeResult(
  deps: HubDeps,
  tx: Tx,
  row: CloudAiJobRow,
  result: CloudAiResult & Pick<Completion, 'preparedText'>,
): Promise<void> {
  const { workspace_id: workspaceId, subject_id: subject } = row;
  if (subject === null) return;
  if (row.kind === 'summarize_source') {
    const { preparedText } = result;
    await placeSummary(deps, tx, { workspaceId, subject, text: summaryOf(result), preparedText });
  } else if (row.kind === 'draft_decision_answer' && decisionDraft().Check(result.json)) {
    await recommendValue(tx, workspaceId, subject, result.json.value);
  }
}

/** The text of a result as a summary; empty without one. */
function summaryOf(result: CloudAiResult | undefined): string {
  return result?.text?.trim() ?? '';
}

async function placeSummary(
  deps: HubDeps,
  tx: Tx,
  summary: { workspaceId: string; subject: string; text: string } & Pick<
    Completion,
    'preparedText'
  >,
): Promise<void> {
  const { workspaceId, subject, text, preparedText } = summary;
  const item = await readItem(tx, workspaceId, itemIdOf(subject));
  if (text === '' || item === undefined || subjectOf(item) !== subject) return;
  if (item.superseded_by !== null) return;
  await addContextItem(tx, deps, {
    workspaceId,
    kind: 'knowledge_artifact',
    title: `Summary: ${item.title}`.slice(0, TITLE_CHARS_MAX).toWellFormed(),
    text,
    preparedText,
    source: SUMMARY_SOURCE,
    // The summary of a changed item replaces the previous summary.
    sourceRef: item.item_id,
    // The text of the source reaches its summary, so the summary is trusted no more than it.
    trust: item.trust,
    occurredAtMs: item.occurred_at,
    createdBy: 'hub',
  });
}

function answerOf({ entry, row }: CloudAiJobRecord, idempotent: boolean): CompleteAnswer {
  assert(row.outcome !== null, 'a completed job has an outcome');
  const { cloud_ai_job_id: cloudAiJobId, outcome } = row;
  return {
    result: { cloudAiJobId, status: entry.status, outcome, idempotent },
    cloudAiJob: presentCloudAiJob(entry, row),
  };
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
