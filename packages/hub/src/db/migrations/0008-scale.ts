import type { EngineName } from '../engine.ts';

/** Keeps an installation with millions of jobs as fast as one with a thousand. */
export function scale(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
    ...listStatements,
    ...retentionStatements(keyed),
    ...dependentStatements(keyed),
    ...(engine === 'sqlite' ? [] : storageStatements),
  ];
}

/**
 * Indexes for lists by repository, kind, status and agent. They contain ended and pending entries
 * but no running ones, so that a claim and a completion together write only two of them.
 */
const listStatements = [
  'DROP INDEX queue_entries_by_agent',
  `CREATE INDEX queue_entries_ended_by_agent
    ON queue_entries (workspace_id, agent_id, status, entry_id) WHERE finished_at IS NOT NULL`,
  `CREATE INDEX queue_entries_pending_by_agent
    ON queue_entries (workspace_id, agent_id, entry_id)
    WHERE status = 'pending' AND agent_id IS NOT NULL`,
  `CREATE INDEX queue_entries_ended_by_lane
    ON queue_entries (workspace_id, lane_id, status, entry_id) WHERE finished_at IS NOT NULL`,
  `CREATE INDEX queue_entries_pending_by_lane
    ON queue_entries (workspace_id, lane_id, entry_id) WHERE status = 'pending'`,
];

function retentionStatements(keyed: string): string[] {
  return [
    // Written at most once an hour by each hub, so that unused lanes can be deleted.
    'ALTER TABLE queue_lanes ADD COLUMN used_at BIGINT NOT NULL DEFAULT 0',
    'CREATE INDEX queue_lanes_by_use ON queue_lanes (used_at)',
    'CREATE INDEX sessions_by_expiry ON sessions (expires_at)',
    'CREATE INDEX device_code_failures_by_age ON device_code_failures (at)',
    'CREATE INDEX uploads_by_age ON uploads (workspace_id, stored_at) WHERE stored_at IS NOT NULL',
    'CREATE INDEX uploads_by_content ON uploads (workspace_id, sha256) WHERE sha256 IS NOT NULL',
    `CREATE INDEX upload_extracts_by_age ON upload_extracts (workspace_id, finished_at)
      WHERE finished_at IS NOT NULL`,
    // Files of the archive: recorded before the file is written, sealed when it is complete.
    `CREATE TABLE archive_parts (
      workspace_id TEXT NOT NULL,
      object_key TEXT NOT NULL,
      month TEXT NOT NULL,
      jobs BIGINT NOT NULL,
      events BIGINT NOT NULL,
      size_bytes BIGINT NOT NULL,
      sha256 TEXT,
      created_at BIGINT NOT NULL,
      sealed_at BIGINT,
      PRIMARY KEY (workspace_id, object_key)
    )${keyed}`,
    'CREATE INDEX archive_parts_open ON archive_parts (created_at) WHERE sealed_at IS NULL',
    // Ended entries to delete, with their state when that was decided.
    `CREATE TABLE entry_removals (
      workspace_id TEXT NOT NULL,
      entry_id TEXT NOT NULL,
      queue TEXT NOT NULL,
      finished_at BIGINT NOT NULL,
      last_seq BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, entry_id)
    )${keyed}`,
  ];
}

/** Entries that are done while their many dependents are still being updated. */
function dependentStatements(keyed: string): string[] {
  return [
    `CREATE TABLE queue_settlements (
      workspace_id TEXT NOT NULL,
      entry_id TEXT NOT NULL,
      PRIMARY KEY (workspace_id, entry_id)
    )${keyed}`,
  ];
}

/**
 * PostgreSQL writes a new version of a row for each update. With free space in the page, a renewal
 * stays in it and changes no index. Autovacuum removes dead versions from tables with many updates
 * before they are many, however long the tables are.
 */
const storageStatements = [
  ...[
    ['queue_entries', 70],
    ['job_events', 90],
    ['agents', 50],
    ['tokens', 80],
    ['queue_lanes', 80],
  ].map(([table, percent]) => `ALTER TABLE ${table} SET (fillfactor = ${percent})`),
  ...['queue_entries', 'jobs', 'agents', 'tokens', 'queue_dependencies', 'entry_removals'].map(
    (table) => `ALTER TABLE ${table} SET (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000,
      autovacuum_vacuum_cost_delay = 1)`,
  ),
  ...['job_events', 'idempotency_keys'].map(
    (table) => `ALTER TABLE ${table} SET (
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
      autovacuum_analyze_scale_factor = 0.02)`,
  ),
];
