import type { ArchiveDeps } from '../archive/archive-jobs.ts';
import {
  type JobRetentionResult,
  retireEndedJobs,
  type ScanPlaces,
} from '../archive/retire-jobs.ts';
import { createLoop, type Loop } from './loop.ts';

/**
 * Each round reads every entry that ended long enough ago, also those that are still needed, so
 * it does not run every minute.
 */
const JOB_RETENTION_INTERVAL_MS = 10 * 60_000;

/** Archives and deletes jobs that ended longer ago than their workspace keeps them. */
export function createJobRetention(
  deps: ArchiveDeps,
  onError: (error: unknown) => void,
): Loop<JobRetentionResult> {
  const places: ScanPlaces = new Map();
  return createLoop({
    name: 'job-retention',
    intervalMs: JOB_RETENTION_INTERVAL_MS,
    clock: deps.clock,
    work: () => retireEndedJobs(deps, places),
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}
