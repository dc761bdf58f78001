import { forgetExpiredContent, type RetentionResult } from '../integrations/retention-actions.ts';
import type { JobDeps } from '../jobs/deps.ts';
import { createLoop, type Loop } from './loop.ts';

/** Retention counts in days: a minute is soon enough, and many small pieces hold nobody up. */
const RETENTION_INTERVAL_MS = 60_000;
const BATCH_MAX = 200;

/** Takes away what has been kept for as long as its workspace wants it kept. */
export function createContentRetention(
  deps: JobDeps,
  onError: (error: unknown) => void,
): Loop<RetentionResult> {
  return createLoop({
    name: 'content-retention',
    intervalMs: RETENTION_INTERVAL_MS,
    clock: deps.clock,
    work: () => forgetExpiredContent(deps, BATCH_MAX),
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}
