import { type ContentRetentionResult, expireContent } from '../integrations/expire.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

/** Retention counts in days: a minute is soon enough, and small pieces block no one for long. */
const CONTENT_RETENTION_INTERVAL_MS = 60_000;
const BATCH_MAX = 200;

/** Deletes inbound content whose workspace has set a retention that has passed. */
export function createContentRetention(
  deps: HubDeps,
  onError: (error: unknown) => void,
): Loop<ContentRetentionResult> {
  return createLoop({
    name: 'content-retention',
    intervalMs: CONTENT_RETENTION_INTERVAL_MS,
    clock: deps.clock,
    work: () => expireContent(deps, BATCH_MAX),
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}
