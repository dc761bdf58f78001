import type { UploadDeps } from '../uploads/deps.ts';
import { retireOldUploads } from '../uploads/expire.ts';
import {
  clearForgottenUploads,
  hasMoreForgotten,
  type UploadRetentionResult,
} from '../uploads/retention-actions.ts';
import { createLoop, type Loop } from './loop.ts';

const UPLOAD_RETENTION_INTERVAL_MS = 60_000;

/** Deletes uploads past their retention, and the remains of uploads that were never finished. */
export function createUploadRetention(
  deps: UploadDeps,
  onError: (error: unknown) => void,
): Loop<UploadRetentionResult & { retired: number; hasMore: boolean }> {
  return createLoop({
    name: 'upload-retention',
    intervalMs: UPLOAD_RETENTION_INTERVAL_MS,
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
