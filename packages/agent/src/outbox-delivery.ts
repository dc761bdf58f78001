import { limitSignal } from './clock.ts';
import { type Failure, type HubClient, judgeFailure } from './hub-client.ts';
import { uploadLogBatch } from './log-upload.ts';
import type { OutboxEntry } from './outbox.ts';

const CALL_TIMEOUT_MS = 30_000;

/** What became of a result. */
export type Settlement =
  | { accepted: true; status: string }
  | { accepted: false; code: string; message: string };

/**
 * Sends the rest of an attempt's output and then its result, in this order because the hub takes
 * no output of a finished job. Returns the hub's answer, or why there is none yet.
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
    // Refused output, or a hub that takes none, does not decide about the result.
    const mayPass = failure.kind === 'retry' && !failure.isPathUnknown;
    if (mayPass || failure.kind === 'unauthorized') return failure;
  }
  try {
    const signal = limitSignal(CALL_TIMEOUT_MS, stopping);
    const answer = await client.jobs.complete(entry.completion, { signal });
    return { accepted: true, status: answer.result.status };
  } catch (error) {
    const failure = judgeFailure(error);
    if (failure.kind !== 'refused') return failure;
    return { accepted: false, code: failure.code, message: failure.message };
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
    const signal = limitSignal(CALL_TIMEOUT_MS, stopping);
    offset = await uploadLogBatch(client, entry.attempt, logFile, offset, signal);
  }
}
