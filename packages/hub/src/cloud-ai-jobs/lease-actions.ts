import type { endpoints, RequestInput, ResponseOf } from '@signalbox/contract';
import { requireAgent } from '../agents/require-agent.ts';
import { readAgent } from '../agents/store.ts';
import { timestampOf } from '../clock.ts';
import type { Tx } from '../db/engine.ts';
import { assert, HubError, invalidField } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { hashJson } from '../idempotency/answer-once.ts';
import type { RequestContext } from '../principal.ts';
import { checkClaim } from '../queue/states.ts';
import { type CloudAiJobRecord, requireCloudAiJob } from './actions.ts';
import { inputKeptOf } from './kept-input.ts';
import { presentCloudAiJob } from './present.ts';
import { placeResult } from './result-actions.ts';
import { type CloudAiJobRow, updateCloudAiEnd, updateCloudAiMessage } from './store.ts';

type HeartbeatInput = RequestInput<typeof endpoints.cloudAiJobs.heartbeat.request>;
type CompleteInput = RequestInput<typeof endpoints.cloudAiJobs.complete.request>;
type CompleteAnswer = Omit<ResponseOf<typeof endpoints.cloudAiJobs.complete>, 'ok'>;

/** Extends the lease of a running cloud AI job. */
export function renewCloudAiLease(
  deps: HubDeps,
  { principal }: RequestContext,
  input: HeartbeatInput,
): Promise<{ leaseExpiresAt: string; cancelRequested: boolean }> {
  const { workspaceId, cloudAiJobId, agentId, message } = input;
  return deps.database.write(workspaceId, async (tx) => {
    const { entry, row } = await requireCloudAiJob(tx, workspaceId, cloudAiJobId);
    requireAgent(await readAgent(tx, workspaceId, agentId), principal);
    const refusal = checkClaim(entry, input);
    if (refusal !== null) throw refusal;
    const renewed = await deps.queue.renew(tx, entry, input.leaseMs, input.shorten);
    if (message !== undefined) await updateCloudAiMessage(tx, row, message);
    assert(renewed.lease_expires_at !== null, 'a running entry has a lease');
    return {
      leaseExpiresAt: timestampOf(renewed.lease_expires_at),
      cancelRequested: entry.cancel_requested_at !== null,
    };
  });
}

/**
 * Completes a cloud AI job: accepted exactly once. The winner's replay gets the same answer; a
 * completion from a lost attempt is refused.
 *
 * @throws HubError a refusal of `checkClaim`, JOB_CANCELED, or INVALID_REQUEST when the result
 *   lacks the JSON that was asked for.
 */
export async function completeCloudAiJob(
  deps: HubDeps,
  context: RequestContext,
  input: CompleteInput,
): Promise<CompleteAnswer> {
  const completion = await deps.database.write(input.workspaceId, (tx) =>
    tryComplete(deps, tx, context, input),
  );
  // Thrown only now, so that the end of a canceled job is kept.
  if ('refusal' in completion) throw completion.refusal;
  return completion.answer;
}

async function tryComplete(
  deps: HubDeps,
  tx: Tx,
  { principal }: RequestContext,
  input: CompleteInput,
): Promise<{ answer: CompleteAnswer } | { refusal: HubError }> {
  const { workspaceId, cloudAiJobId, agentId } = input;
  const record = await requireCloudAiJob(tx, workspaceId, cloudAiJobId);
  const { entry, row } = record;
  requireAgent(await readAgent(tx, workspaceId, agentId), principal);
  const completionHash = hashJson(input);
  // What has ended never goes again, so equal words are the accepted completion again.
  if (row.completion_hash === completionHash) return { answer: answerOf(record, true) };
  const refusal = checkClaim(entry, input);
  if (refusal !== null) return { refusal };
  tx.afterCommit(() => deps.waiters.wakeAgent(workspaceId, agentId));
  if (entry.cancel_requested_at !== null) {
    await deps.queue.endCanceled(tx, entry);
    await updateCloudAiEnd(tx, { ...row, input: inputKeptOf(row) });
    return { refusal: new HubError('JOB_CANCELED', 'The job was canceled: discard the result.') };
  }
  requireWantedJson(row, input);
  const ended: CloudAiJobRow = {
    ...row,
    input: inputKeptOf(row),
    outcome: input.outcome,
    result: jsonOrNull(input.result),
    usage: jsonOrNull(input.usage),
    message: input.message ?? null,
    completion_hash: completionHash,
  };
  const finished = await deps.queue.finish(tx, entry, input.outcome);
  await updateCloudAiEnd(tx, ended);
  if (input.outcome === 'done') await placeResult(deps, tx, ended, input.result ?? {});
  return { answer: answerOf({ entry: finished, row: ended }, false) };
}

/**
 * A caller that gave a schema reads `result.json`, so it must be there. Whether it fits the schema
 * is checked by the executor, beside the model: a schema may hold patterns of any cost, and the hub
 * serves everybody.
 */
function requireWantedJson(row: CloudAiJobRow, { outcome, result }: CompleteInput): void {
  if (outcome === 'done' && row.response_schema !== null && result?.json === undefined) {
    throw invalidField('/result/json', 'is missing, although the job has a responseSchema');
  }
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
