import { readFile } from 'node:fs/promises';
import { ApiError } from '@signalbox/sdk';
import { type Failure, type HubClient, isAboutContent, judgeFailure } from '../hub-client.ts';
import { fenceOf } from '../job/attempt.ts';
import { UploadError, uploadBytes } from '../upload-bytes.ts';
import { uploadLogBatch } from './log-upload.ts';
import type { Outbox, OutboxEntry, SharedPatches } from './outbox.ts';

const CALL_TIMEOUT_MS = 30_000;

/** The hub's final answer to a result. */
export type Settlement =
  | { accepted: true; status: string }
  | { accepted: false; code: string; message: string };

/** Where the parts of a result are. */
interface ResultPlace {
  logFile: string;
  patchFile: string;
  roundPatchFile: string;
  outbox: Pick<Outbox, 'put'>;
}

/**
 * Sends the rest of an attempt's output, the answers to review comments and the patches, then the
 * result; in this order, because the hub rejects the others of a finished job, and the result names
 * the uploads. Returns the hub's answer, or the failure if there is no answer yet.
 */
export async function deliverEntry(
  client: HubClient,
  entry: OutboxEntry,
  place: ResultPlace,
  stopping: AbortSignal,
): Promise<Settlement | Exclude<Failure, { kind: 'refused' }>> {
  try {
    await sendLog(client, entry, place.logFile, stopping);
  } catch (error) {
    const failure = judgeFailure(error);
    // Rejected output, or a hub without this endpoint, must not block the result.
    const mayPass = failure.kind === 'retry' && !failure.isPathUnknown;
    if (mayPass || failure.kind === 'unauthorized') return failure;
  }
  try {
    const options = { signal: stopping, timeoutMs: CALL_TIMEOUT_MS };
    await sendAnswers(client, entry, options);
    const named = await sendPatch(client, entry, 'patch', place, options);
    const { completion } = await sendPatch(client, named, 'roundPatch', place, options);
    const answer = await client.jobs.complete(completion, options);
    return { accepted: true, status: answer.result.status };
  } catch (error) {
    if (error instanceof UploadError) {
      return { kind: 'retry', retryAfterMs: 0, isPathUnknown: false, message: error.message };
    }
    const failure = judgeFailure(error);
    if (failure.kind !== 'refused') return failure;
    return { accepted: false, code: failure.code, message: failure.message };
  }
}

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
  if (isSubstitute || !isAboutContent(refusal.code)) return null;
  const { workspaceId, jobId, agentId, claimGeneration } = completion;
  const summary = `The hub rejected the result (${completion.outcome}): ${refusal.message}`;
  const reason = { category: 'agent', code: SUBSTITUTE_CODE, retryable: false, summary };
  const commitSha = evidence?.commitSha;
  return {
    ...entry,
    completion: {
      workspaceId,
      jobId,
      agentId,
      outcome: 'failed',
      message: summary,
      outcomeReason: reason,
      ...(claimGeneration === undefined ? {} : { claimGeneration }),
      ...(commitSha === undefined ? {} : { evidence: { commitSha, changedFiles: [] } }),
    },
  };
}

/** A hub without space for uploads may still take results. */
const UPLOAD_FAILURES_MAX = 3;

/**
 * Uploads a patch and names it in the result. An upload that is refused, or fails again and again,
 * must not block the result, which then says why it has no patch.
 *
 * @returns the entry with its final evidence. It is stored, so a repetition uploads nothing twice.
 */
async function sendPatch(
  client: HubClient,
  entry: OutboxEntry,
  name: keyof SharedPatches,
  { outbox, ...files }: ResultPlace,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<OutboxEntry> {
  const { [name]: patch, ...rest } = entry;
  if (patch === undefined) return entry;
  const { workspaceId, key, jobId, agentId, claimGeneration } = entry.attempt;
  const job = { jobId, agentId, claimGeneration };
  const fileName = name === 'patch' ? `${key}.patch` : `${key}-round.patch`;
  const draft = { workspaceId, job, fileName, contentType: 'text/x-diff' };
  const { filesOmitted, failures = 0 } = patch;
  let shared: object;
  try {
    const bytes = await readFile(files[`${name}File`]);
    const uploadId = await uploadBytes(client, draft, bytes, options);
    const omitted = filesOmitted > 0 ? { filesOmitted } : {};
    shared = { uploadId, sizeBytes: bytes.length, ...omitted };
  } catch (error) {
    const judgement = judgeUpload(error);
    if (judgement === 'hub_away') throw error;
    if (judgement === 'failed' && failures + 1 < UPLOAD_FAILURES_MAX) {
      await outbox.put({ ...rest, [name]: { filesOmitted, failures: failures + 1 } });
      throw error;
    }
    shared = { refused: (error as Error).message };
  }
  const { evidence } = entry.completion;
  const completion = { ...entry.completion, evidence: { ...evidence, [name]: shared } };
  const named = { ...rest, completion };
  await outbox.put(named);
  return named;
}

/** `hub_away`: the result cannot be sent either. Rethrows defects. */
function judgeUpload(error: unknown): 'refused' | 'failed' | 'hub_away' {
  if (error instanceof UploadError) return 'failed';
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'refused';
  const failure = judgeFailure(error);
  if (failure.kind === 'refused') return 'refused';
  if (failure.kind === 'unauthorized' || !(error instanceof ApiError)) return 'hub_away';
  return failure.isPathUnknown ? 'refused' : 'failed';
}

/** An answer to a comment that the hub refuses must not block the result. */
async function sendAnswers(
  client: HubClient,
  { attempt, answers = [] }: OutboxEntry,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<void> {
  for (const answer of answers) {
    const body = { ...fenceOf(attempt), ...answer };
    try {
      await client.reviewComments.answer(body, options);
    } catch (error) {
      const failure = judgeFailure(error);
      if (failure.kind !== 'refused' && !(failure.kind === 'retry' && failure.isPathUnknown)) {
        throw error;
      }
    }
  }
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
    const uploaded = await uploadLogBatch(client, entry.attempt, logFile, offset, options);
    offset = uploaded?.offset ?? null;
  }
}
