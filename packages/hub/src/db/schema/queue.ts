import { keyedTable, of, type RowOf } from './table.ts';

export type QueueName = 'jobs' | 'cloud-ai-jobs';

/**
 * `queue/queue.ts` explains lanes and holds. Claims read the active lanes of a repository only. A
 * lane to which no pending or running entry belongs becomes idle after 10 minutes.
 */
const queue_lanes = keyedTable(
  ['workspace_id, lane_id', 'workspace_id, queue, repo_id, kind, requirements'],
  {
    workspace_id: 'TEXT NOT NULL',
    lane_id: 'TEXT NOT NULL',
    queue: of<QueueName>('TEXT NOT NULL'),
    repo_id: 'TEXT NOT NULL',
    kind: 'TEXT NOT NULL',
    /** Canonical JSON of the required capabilities. */
    requirements: 'TEXT NOT NULL',
    /** When an entry was last added, to within `LANE_KNOWN_MS` of `queue.ts`. */
    used_at: 'BIGINT NOT NULL DEFAULT 0',
    /** 1: no pending or running entry belongs to it, so claims do not look at it. */
    idle: 'INTEGER NOT NULL DEFAULT 0',
  },
);
export type QueueLanesTable = RowOf<typeof queue_lanes>;

/**
 * The narrow, hot row of a job. On PostgreSQL no index has the lease’s expiry, so a renewal changes
 * no index.
 */
const queue_entries = keyedTable('workspace_id, entry_id', {
  workspace_id: 'TEXT NOT NULL',
  entry_id: 'TEXT NOT NULL',
  queue: of<QueueName>('TEXT NOT NULL'),
  lane_id: 'TEXT NOT NULL',
  status: of<'pending' | 'running' | 'done' | 'failed' | 'blocked' | 'canceled'>('TEXT NOT NULL'),
  /** Why a pending entry is not claimable, or `ready`; null if it is not pending. */
  hold: of<'ready' | 'delayed' | 'dependencies' | 'key' | 'preferred' | null>('TEXT'),
  priority: 'INTEGER NOT NULL',
  sort_key: 'BIGINT NOT NULL',
  enqueued_at: 'BIGINT NOT NULL',
  available_at: 'BIGINT NOT NULL',
  attempt: 'INTEGER NOT NULL',
  attempts_max: 'INTEGER NOT NULL',
  dependencies_unmet: 'INTEGER NOT NULL',
  concurrency_key: 'TEXT',
  agent_id: 'TEXT',
  lease_ms: 'BIGINT',
  lease_expires_at: 'BIGINT',
  claim_key: 'TEXT',
  job_token_hash: 'TEXT',
  started_at: 'BIGINT',
  finished_at: 'BIGINT',
  cancel_requested_at: 'BIGINT',
  /** The timeline event that collects the heartbeats of the current attempt. */
  heartbeat_seq: 'BIGINT',
  heartbeat_count: 'BIGINT NOT NULL',
  /** For the hold `preferred`: the only agent that may claim the entry, and until when. */
  prefer_agent_id: 'TEXT',
  prefer_until: 'BIGINT',
  /** The epoch of the last restore that the entry went through; 0: none. See `generationOf`. */
  epoch: 'BIGINT NOT NULL DEFAULT 0',
});
export type QueueEntriesTable = RowOf<typeof queue_entries>;

const queue_dependencies = keyedTable('workspace_id, depends_on_entry_id, entry_id', {
  workspace_id: 'TEXT NOT NULL',
  depends_on_entry_id: 'TEXT NOT NULL',
  entry_id: 'TEXT NOT NULL',
});

/** An entry that is done while some of its dependents still have to be updated. */
const queue_settlements = keyedTable('workspace_id, entry_id', {
  workspace_id: 'TEXT NOT NULL',
  entry_id: 'TEXT NOT NULL',
});
export type QueueSettlementsTable = RowOf<typeof queue_settlements>;

/** An entry that is scheduled for deletion, as it was when it was scheduled. */
const entry_removals = keyedTable('workspace_id, entry_id', {
  workspace_id: 'TEXT NOT NULL',
  entry_id: 'TEXT NOT NULL',
  queue: of<QueueName>('TEXT NOT NULL'),
  finished_at: 'BIGINT NOT NULL',
  /** Sequence number of its last event; 0 without a timeline. */
  last_seq: 'BIGINT NOT NULL',
});
export type EntryRemovalsTable = RowOf<typeof entry_removals>;

/** A file of the archive: recorded before the file is written, sealed when it is complete. */
const archive_parts = keyedTable('workspace_id, object_key', {
  workspace_id: 'TEXT NOT NULL',
  object_key: 'TEXT NOT NULL',
  /** The month in which its jobs ended, such as 2026-11. */
  month: 'TEXT NOT NULL',
  jobs: 'BIGINT NOT NULL',
  events: 'BIGINT NOT NULL',
  size_bytes: 'BIGINT NOT NULL',
  /** Hash of the whole file, lower-case hex. */
  sha256: of<string>('TEXT'),
  created_at: 'BIGINT NOT NULL',
  /** Null: it may be incomplete, so its jobs stay. */
  sealed_at: 'BIGINT',
});
export type ArchivePartsTable = RowOf<typeof archive_parts>;

export const queueTables = {
  queue_lanes,
  queue_entries,
  queue_dependencies,
  queue_settlements,
  entry_removals,
  archive_parts,
};

export const queueIndexes = [
  'CREATE INDEX queue_lanes_by_use ON queue_lanes (used_at)',
  `CREATE INDEX queue_lanes_active ON queue_lanes (workspace_id, queue, repo_id, kind, lane_id)
    WHERE idle = 0`,
  `CREATE INDEX queue_entries_ready ON queue_entries (workspace_id, lane_id, sort_key, entry_id)
    WHERE hold = 'ready'`,
  `CREATE INDEX queue_entries_delayed ON queue_entries (available_at) WHERE hold = 'delayed'`,
  `CREATE INDEX queue_entries_held ON queue_entries (workspace_id, lane_id)
    WHERE hold <> 'ready'`,
  `CREATE INDEX queue_entries_key_held ON queue_entries
    (workspace_id, queue, concurrency_key, lane_id, sort_key, entry_id)
    WHERE hold = 'key'`,
  `CREATE UNIQUE INDEX queue_entries_key_running ON queue_entries
    (workspace_id, queue, concurrency_key)
    WHERE status = 'running' AND concurrency_key IS NOT NULL`,
  `CREATE INDEX queue_entries_running ON queue_entries (workspace_id, agent_id)
    WHERE status = 'running'`,
  'CREATE INDEX queue_entries_by_status ON queue_entries (workspace_id, queue, status, entry_id)',
  `CREATE INDEX queue_entries_preferred ON queue_entries (workspace_id, prefer_agent_id)
    WHERE hold = 'preferred'`,
  `CREATE INDEX queue_entries_preferred_until ON queue_entries (prefer_until)
    WHERE hold = 'preferred'`,
  // For lists by repository, kind, status and agent. They contain ended and pending entries but no
  // running ones, so that a claim and a completion together write only two of them.
  `CREATE INDEX queue_entries_ended_by_agent ON queue_entries
    (workspace_id, agent_id, status, entry_id)
    WHERE finished_at IS NOT NULL`,
  `CREATE INDEX queue_entries_pending_by_agent ON queue_entries (workspace_id, agent_id, entry_id)
    WHERE status = 'pending' AND agent_id IS NOT NULL`,
  `CREATE INDEX queue_entries_ended_by_lane ON queue_entries
    (workspace_id, lane_id, status, entry_id)
    WHERE finished_at IS NOT NULL`,
  `CREATE INDEX queue_entries_pending_by_lane ON queue_entries (workspace_id, lane_id, entry_id)
    WHERE status = 'pending'`,
  // A job token is not valid once its attempt has ended. Hashes are random, so with an index of all
  // tokens each claim would write a different page.
  `CREATE UNIQUE INDEX queue_entries_by_job_token ON queue_entries (job_token_hash)
    WHERE status = 'running' AND job_token_hash IS NOT NULL`,
  'CREATE INDEX archive_parts_open ON archive_parts (created_at) WHERE sealed_at IS NULL',
];
