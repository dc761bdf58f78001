/** The leased queue. */
export const queueTables = [
  // Claims read the active lanes of a repository only. A lane to which no pending or running entry
  // belongs becomes idle after 10 minutes.
  `CREATE TABLE queue_lanes (
    workspace_id TEXT NOT NULL,
    lane_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    requirements TEXT NOT NULL,
    used_at BIGINT NOT NULL DEFAULT 0,
    idle INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, lane_id),
    UNIQUE (workspace_id, queue, repo_id, kind, requirements)
  ) WITHOUT ROWID`,
  'CREATE INDEX queue_lanes_by_use ON queue_lanes (used_at)',
  `CREATE INDEX queue_lanes_active ON queue_lanes (workspace_id, queue, repo_id, kind, lane_id)
    WHERE idle = 0`,
  // The narrow, hot row of a job. On PostgreSQL no index has the lease’s expiry, so a renewal
  // changes no index.
  `CREATE TABLE queue_entries (
    workspace_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    lane_id TEXT NOT NULL,
    status TEXT NOT NULL,
    hold TEXT,
    priority INTEGER NOT NULL,
    sort_key BIGINT NOT NULL,
    enqueued_at BIGINT NOT NULL,
    available_at BIGINT NOT NULL,
    attempt INTEGER NOT NULL,
    attempts_max INTEGER NOT NULL,
    dependencies_unmet INTEGER NOT NULL,
    concurrency_key TEXT,
    agent_id TEXT,
    lease_ms BIGINT,
    lease_expires_at BIGINT,
    claim_key TEXT,
    job_token_hash TEXT,
    started_at BIGINT,
    finished_at BIGINT,
    cancel_requested_at BIGINT,
    heartbeat_seq BIGINT,
    heartbeat_count BIGINT NOT NULL,
    prefer_agent_id TEXT,
    prefer_until BIGINT,
    epoch BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, entry_id)
  ) WITHOUT ROWID`,
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
  `CREATE TABLE queue_dependencies (
    workspace_id TEXT NOT NULL,
    depends_on_entry_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    PRIMARY KEY (workspace_id, depends_on_entry_id, entry_id)
  ) WITHOUT ROWID`,
  // Entries that are done while their many dependents are still being updated.
  `CREATE TABLE queue_settlements (
    workspace_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    PRIMARY KEY (workspace_id, entry_id)
  ) WITHOUT ROWID`,
  // Ended entries to delete, with their state when that was decided.
  `CREATE TABLE entry_removals (
    workspace_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    finished_at BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, entry_id)
  ) WITHOUT ROWID`,
];
