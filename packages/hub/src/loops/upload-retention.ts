import type { UploadDeps } from '../uploads/deps.ts';
import { expireUploads, type UploadRetentionResult } from '../uploads/expire.ts';
import { createLoop, type Loop } from './loop.ts';

const UPLOAD_RETENTION_INTERVAL_MS = 60_000;

/** Deletes uploads past their retention, and the remains of uploads that were never finished. */
export function createUploadRetention(
  deps: UploadDeps,
  onError: (error: unknown) => void,
): Loop<UploadRetentionResult> {
  return createLoop({
    name: 'upload-retention',
    intervalMs: UPLOAD_RETENTION_INTERVAL_MS,
    clock: deps.clock,
    work: () => expireUploads(deps),
    hasMore: ({ hasMore }) => hasMore,
    onError,
  });
}
