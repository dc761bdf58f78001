import type { UploadDeps } from '../uploads/deps.ts';
import { type ExtractionResult, extractDueTexts } from '../uploads/extraction/extract-due.ts';
import { collectUploads } from '../uploads/receive.ts';
import { createLoop, type Loop } from './loop.ts';

const EXTRACTION_INTERVAL_MS = 1_000;

/**
 * Extracts the texts of uploaded documents. Stopping the loop aborts the extractions in progress,
 * so that a stop does not wait for a slow parser; the next start does them again.
 */
export function createExtraction(
  deps: UploadDeps,
  onError: (error: unknown) => void,
): Loop<ExtractionResult> {
  const stopping = new AbortController();
  let collected: Awaited<ReturnType<typeof collectUploads>> = null;
  const loop = createLoop({
    name: 'extraction',
    intervalMs: EXTRACTION_INTERVAL_MS,
    clock: deps.clock,
    async work() {
      collected = await collectUploads(deps, collected);
      return extractDueTexts(deps, stopping.signal);
    },
    hasMore: ({ hasMore }) => hasMore,
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
