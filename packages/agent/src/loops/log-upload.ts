import type { CallOptions } from '@signalbox/sdk';
import type { HubClient } from '../hub-client.ts';
import { type Attempt, fenceOf } from '../job/attempt.ts';
import { readLogBatch } from '../job/job-log.ts';

export interface Uploaded {
  /** After the batch. */
  offset: number;
  /** A person wants the job to end. */
  isCancelRequested: boolean;
}

/**
 * Sends the next batch of a log file. Returns null if there was nothing to send. Entries have
 * numbers, and the hub skips those it has, so resending a batch whose answer was lost is safe.
 * Throws the errors of the call.
 */
export async function uploadLogBatch(
  client: HubClient,
  attempt: Attempt,
  logFile: string,
  offset: number,
  options: CallOptions,
): Promise<Uploaded | null> {
  const batch = await readLogBatch(logFile, offset);
  if (batch.entries.length === 0) return null;
  const { cancelRequested = false } = await client.jobEvents.append(
    { ...fenceOf(attempt), entries: batch.entries },
    options,
  );
  return { offset: batch.nextOffset, isCancelRequested: cancelRequested };
}
