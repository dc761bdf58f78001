import type { UploadDeps } from '../uploads/deps.ts';
import {
  type ExtractionResult,
  extractDueTexts,
  hasMoreTexts,
  settleArrived,
} from '../uploads/extraction/extract-texts.ts';
import {
  clearForgottenUploads,
  hasMoreForgotten,
  type UploadRetentionResult,
} from '../uploads/retention-actions.ts';
import { retireOldUploads } from '../uploads/retirement-actions.ts';
import { createLoop, type Loop } from './loop.ts';

const EXTRACTION_INTERVAL_MS = 1_000;
const RETENTION_INTERVAL_MS = 60_000;

/**
 * Extracts the texts of documents as they come in. When the loop stops, documents under way are
 * let go and come up again at the next start: a stop does not wait for a slow parser.
 */
export function createExtraction(
  deps: UploadDeps,
  onError: (error: unknown) => void,
): Loop<ExtractionResult> {
  const stopping = new AbortController();
  let settled: Awaited<ReturnType<typeof settleArrived>> = null;
  const loop = createLoop({
    name: 'extraction',
    intervalMs: EXTRACTION_INTERVAL_MS,
    clock: deps.clock,
    async work() {
      settled = await settleArrived(deps, settled);
      return extractDueTexts(deps, stopping.signal);
    },
    hasMore: hasMoreTexts,
    onError,
  });
  return {
    ...loop,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}

/** Takes away old uploads, and what those leave behind that never came to an end. */
export function createUploadRetention(
  deps: UploadDeps,
  onError: (error: unknown) => void,
): Loop<UploadRetentionResult & { retired: number; hasMore: boolean }> {
  return createLoop({
    name: 'upload-retention',
    intervalMs: RETENTION_INTERVAL_MS,
    clock: deps.clock,
    async work() {
      const { retired, hasMore } = await retireOldUploads(deps);
      const cleared = await clearForgottenUploads(deps);
      return { ...cleared, retired, hasMore: hasMore || hasMoreForgotten(cleared) };
    },
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}
