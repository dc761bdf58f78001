import type { Repository } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { askOrderOf } from './ask-order.ts';
import type { RepositoryRow } from './store.ts';

export function presentRepository(row: RepositoryRow): Repository {
  return {
    repoId: row.repo_id,
    workspaceId: row.workspace_id,
    remoteUrlHash: row.remote_url_hash,
    label: row.label,
    status: row.status,
    queuePausedAt: nullableTimestampOf(row.queue_paused_at),
    askOrder: askOrderOf(row),
    createdAt: timestampOf(row.created_at),
    updatedAt: timestampOf(row.updated_at),
  };
}
