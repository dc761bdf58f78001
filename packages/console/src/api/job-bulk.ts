import type { BulkAction, BulkResult } from '@signalbox/contract';
import { callHub } from './hub-call.ts';

/** Jobs of one call (BULK_JOBS_MAX of the contract). */
const BULK_JOBS_MAX = 100;

/**
 * Takes an action on any number of jobs, a hundred at a time. A call that is repeated after a lost
 * answer gets the first results, by its key.
 */
export async function changeJobs(
  workspaceId: string,
  asked: { action: BulkAction; priority?: number },
  jobs: readonly { jobId: string; attempt: number | undefined }[],
  key: string,
): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  for (let at = 0; at < jobs.length; at += BULK_JOBS_MAX) {
    const part = jobs.slice(at, at + BULK_JOBS_MAX).map(({ jobId, attempt }) => ({
      jobId,
      ...(attempt !== undefined && { claimGeneration: attempt }),
    }));
    const request = { workspaceId, ...asked, jobs: part, idempotencyKey: `${key}-${at}` };
    results.push(...(await callHub('jobs', 'bulk', request)).results);
  }
  return results;
}
