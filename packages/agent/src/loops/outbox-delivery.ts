import { type Failure, type HubClient, judgeFailure } from '../hub-client.ts';
import { uploadLogBatch } from './log-upload.ts';
import type { OutboxEntry } from './outbox.ts';

const CALL_TIMEOUT_MS = 30_000;

/** The hub's final answer to a result. */
export type Settlement =
  | { accepted: true; status: string }
  | { accepted: false; code: string; message: string };

/**
 * Sends the rest of an attempt's output, then its result; in this order, because the hub rejects
 * output of a finished job. Returns the hub's answer, or the failure if there is no answer yet.
 */
export async function deliverEntry(
  client: HubClient,
  entry: OutboxEntry,
  logFile: string,
  stopping: AbortSignal,
): Promise<Settlement | Exclude<Failure, { kind: 'refused' }>> {
  try {
    await sendLog(client, entry, logFile, stopping);
  } catch (error) {
    const failure = judgeFailure(error);
    // Rejected output, or a hub without this endpoint, must not block the result.
    const mayPass = failure.kind === 'retry' && !failure.isPathUnknown;
    if (mayPass || failure.kind === 'unauthorized') return failure;
  }
  try {
    const options = { signal: stopping, timeoutMs: CALL_TIMEOUT_MS };
    const answer = await client.jobs.complete(entry.completion, options);
    return { accepted: true, status: answer.result.status };
  } catch (error) {
    const failure = judgeFailure(error);
    if (failure.kind !== 'refused') return failure;
    return { accepted: false, code: failure.code, message: failure.message };
  }
}

/** Errors about the content of a result, not about the lease: the job is still held. */
const contentCodes = new Set(['INVALID_REQUEST', 'INVALID_JSON', 'BODY_TOO_LARGE']);
const SUBSTITUTE_CODE = 'result_refused';

/**
 * Builds a plain failure to replace a result that the hub rejects. The job then ends now, with its
 * commit, instead of being repeated. Returns null when no replacement applies.
 */
export function substituteFor(
  entry: OutboxEntry,
  refusal: { code: string; message: string },
): OutboxEntry | null {
  const { outcomeReason, evidence, ...completion } = entry.completion;
  const isSubstitute = typeof outcomeReason === 'object' && outcomeReason.code === SUBSTITUTE_CODE;
  if (isSubstitute || !contentCodes.has(refusal.code)) return null;
  const { workspaceId, jobId, agentId, claimGeneration } = completion;
  const summary = `The hub rejected the result (${completion.outcome}): ${refusal.message}`;
  const reason = { category: 'agent', code: SUBSTITUTE_CODE, retryable: false, summary };
  const commitSha = evidence?.commitSha;
  return {
    ...entry,
    completion: {
      ...{ workspaceId, jobId, agentId, outcome: 'failed', message: summary },
      outcomeReason: reason,
      ...(claimGeneration === undefined ? {} : { claimGeneration }),
      ...(commitSha === undefined ? {} : { evidence: { commitSha, changedFiles: [] } }),
    },
  };
}

async function sendLog(
  client: HubClient,
  entry: OutboxEntry,
  logFile: string,
  stopping: AbortSignal,
): Promise<void> {
  let offset: number | null = entry.logOffset;
  while (offset !== null) {
    const options = { signal: stopping, timeoutMs: CALL_TIMEOUT_MS };
    offset = await uploadLogBatch(client, entry.attempt, logFile, offset, options);
  }
}
