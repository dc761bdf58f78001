import type { EngineName } from '../engine.ts';

/**
 * The first tables, in SQL that both engines understand. On SQLite, tables that are only read by
 * key are stored in the key's tree (WITHOUT ROWID), which saves writing a second one. Jobs are not:
 * their rows are long, and long rows make such a tree deep.
 */
export function foundation(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  const functions = engine === 'postgres' ? [jsonEach] : [];
  return [...functions, ...hubTables(keyed), ...queueTables(keyed), ...recordTables(keyed)];
}

/** Returns the values of a JSON array, like SQLite's function of this name. */
const jsonEach = `CREATE FUNCTION json_each(list text) RETURNS TABLE (value text)
  LANGUAGE sql IMMUTABLE ROWS 10 AS 'SELECT jsonb_array_elements_text(list::jsonb)'`;

function hubTables(keyed: string): string[] {
  return [
    `CREATE TABLE workspaces (
      workspace_id TEXT NOT NULL PRIMARY KEY,
      slug TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      content_storage TEXT NOT NULL,
      retention_days BIGINT,
      redact_secrets INTEGER NOT NULL,
      queue_paused_at BIGINT
    )${keyed}`,
    `CREATE TABLE people (
      person_id TEXT NOT NULL PRIMARY KEY,
      email TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      password_hash TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )${keyed}`,
    `CREATE TABLE memberships (
      workspace_id TEXT NOT NULL,
      person_id TEXT NOT NULL,
      role TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, person_id)
    )${keyed}`,
    'CREATE INDEX memberships_by_person ON memberships (person_id)',
    `CREATE TABLE sessions (
      session_id TEXT NOT NULL PRIMARY KEY,
      session_hash TEXT NOT NULL UNIQUE,
      person_id TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      last_seen_at BIGINT NOT NULL,
      confirmed_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      address TEXT NOT NULL,
      user_agent TEXT NOT NULL,
      revoked_at BIGINT
    )${keyed}`,
    'CREATE INDEX sessions_by_person ON sessions (person_id)',
    `CREATE TABLE hub_settings (
      name TEXT NOT NULL PRIMARY KEY,
      value TEXT NOT NULL
    )${keyed}`,
    `CREATE TABLE tokens (
      workspace_id TEXT NOT NULL,
      token_id TEXT NOT NULL,
      token_hash TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      principal_id TEXT NOT NULL,
      person_id TEXT,
      name TEXT NOT NULL,
      scopes TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      last_used_at BIGINT,
      revoked_at BIGINT,
      created_by TEXT NOT NULL,
      PRIMARY KEY (workspace_id, token_id)
    )${keyed}`,
    `CREATE TABLE token_repositories (
      workspace_id TEXT NOT NULL,
      token_id TEXT NOT NULL,
      repo_id TEXT NOT NULL,
      PRIMARY KEY (workspace_id, token_id, repo_id)
    )${keyed}`,
    `CREATE TABLE device_sessions (
      device_id TEXT NOT NULL PRIMARY KEY,
      secret_hash TEXT NOT NULL,
      workspace_slug TEXT NOT NULL,
      machine_name TEXT NOT NULL,
      user_code TEXT NOT NULL,
      address TEXT NOT NULL,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      interval_ms BIGINT NOT NULL,
      polled_at BIGINT,
      opened_by_session_id TEXT,
      wrong_codes INTEGER NOT NULL,
      answered_at BIGINT,
      workspace_id TEXT,
      token_id TEXT,
      token_hash TEXT NOT NULL,
      sealed_token TEXT NOT NULL
    )${keyed}`,
    'CREATE INDEX device_sessions_by_address ON device_sessions (address, expires_at)',
    'CREATE INDEX device_sessions_by_expiry ON device_sessions (expires_at)',
    `CREATE TABLE device_code_failures (
      address TEXT NOT NULL,
      at BIGINT NOT NULL
    )`,
    'CREATE INDEX device_code_failures_by_address ON device_code_failures (address, at)',
    `CREATE TABLE agents (
      workspace_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      principal_id TEXT NOT NULL,
      token_id TEXT NOT NULL,
      machine_fingerprint TEXT NOT NULL,
      display_name TEXT NOT NULL,
      status TEXT NOT NULL,
      capabilities TEXT NOT NULL,
      agent_version TEXT,
      platform TEXT,
      arch TEXT,
      last_seen_at BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, agent_id),
      UNIQUE (workspace_id, principal_id, machine_fingerprint)
    )${keyed}`,
    `CREATE TABLE repositories (
      workspace_id TEXT NOT NULL,
      repo_id TEXT NOT NULL,
      remote_url_hash TEXT NOT NULL,
      label TEXT NOT NULL,
      status TEXT NOT NULL,
      queue_paused_at BIGINT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, repo_id),
      UNIQUE (workspace_id, remote_url_hash)
    )${keyed}`,
    `CREATE TABLE runs (
      workspace_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      repo_id TEXT NOT NULL,
      run_ref TEXT NOT NULL,
      status TEXT NOT NULL,
      current_milestone TEXT,
      run_state_path TEXT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, run_id),
      UNIQUE (workspace_id, repo_id, run_ref)
    )${keyed}`,
  ];
}

/** The narrow, hot row of a job. No index has the lease's expiry, so a renewal changes no index. */
function queueTables(keyed: string): string[] {
  return [
    `CREATE TABLE queue_lanes (
      workspace_id TEXT NOT NULL,
      lane_id TEXT NOT NULL,
      queue TEXT NOT NULL,
      repo_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      requirements TEXT NOT NULL,
      PRIMARY KEY (workspace_id, lane_id),
      UNIQUE (workspace_id, queue, repo_id, kind, requirements)
    )${keyed}`,
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
      log_seq BIGINT NOT NULL,
      heartbeat_seq BIGINT,
      heartbeat_count BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, entry_id)
    )${keyed}`,
    `CREATE INDEX queue_entries_ready ON queue_entries (workspace_id, lane_id, sort_key, entry_id)
      WHERE hold = 'ready'`,
    `CREATE INDEX queue_entries_delayed ON queue_entries (available_at) WHERE hold = 'delayed'`,
    `CREATE INDEX queue_entries_held ON queue_entries (workspace_id, lane_id)
      WHERE hold <> 'ready'`,
    `CREATE INDEX queue_entries_key_held
      ON queue_entries (workspace_id, queue, concurrency_key, lane_id, sort_key, entry_id)
      WHERE hold = 'key'`,
    `CREATE UNIQUE INDEX queue_entries_key_running
      ON queue_entries (workspace_id, queue, concurrency_key)
      WHERE status = 'running' AND concurrency_key IS NOT NULL`,
    `CREATE INDEX queue_entries_running ON queue_entries (workspace_id, agent_id)
      WHERE status = 'running'`,
    `CREATE INDEX queue_entries_by_status ON queue_entries (workspace_id, queue, status, entry_id)`,
    `CREATE INDEX queue_entries_by_agent ON queue_entries (workspace_id, agent_id, entry_id)
      WHERE agent_id IS NOT NULL`,
    `CREATE UNIQUE INDEX queue_entries_by_job_token ON queue_entries (job_token_hash)
      WHERE job_token_hash IS NOT NULL`,
    `CREATE TABLE queue_dependencies (
      workspace_id TEXT NOT NULL,
      depends_on_entry_id TEXT NOT NULL,
      entry_id TEXT NOT NULL,
      PRIMARY KEY (workspace_id, depends_on_entry_id, entry_id)
    )${keyed}`,
  ];
}

function recordTables(keyed: string): string[] {
  return [
    `CREATE TABLE jobs (
      workspace_id TEXT NOT NULL,
      job_id TEXT NOT NULL,
      repo_id TEXT NOT NULL,
      run_id TEXT,
      kind TEXT NOT NULL,
      role TEXT NOT NULL,
      prompt TEXT NOT NULL,
      requirements TEXT,
      parent_job_id TEXT,
      depends_on TEXT NOT NULL,
      budget TEXT,
      created_by TEXT NOT NULL,
      outcome TEXT,
      outcome_reason TEXT,
      message TEXT,
      evidence TEXT,
      usage TEXT,
      completion_hash TEXT,
      completion_attempt INTEGER,
      completion_answer TEXT,
      waiting_on_uncertainty_id TEXT,
      decisions TEXT NOT NULL,
      PRIMARY KEY (workspace_id, job_id)
    )`,
    'CREATE INDEX jobs_by_repository ON jobs (workspace_id, repo_id, job_id)',
    'CREATE INDEX jobs_by_kind ON jobs (workspace_id, kind, job_id)',
    `CREATE INDEX jobs_by_run ON jobs (workspace_id, run_id, job_id) WHERE run_id IS NOT NULL`,
    `CREATE TABLE job_events (
      workspace_id TEXT NOT NULL,
      job_id TEXT NOT NULL,
      seq BIGINT NOT NULL,
      event_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      at BIGINT NOT NULL,
      attempt INTEGER NOT NULL,
      agent_id TEXT,
      message TEXT,
      data TEXT,
      PRIMARY KEY (workspace_id, job_id, seq)
    )${keyed}`,
    `CREATE TABLE idempotency_keys (
      workspace_id TEXT NOT NULL,
      operation TEXT NOT NULL,
      idempotency_key TEXT NOT NULL,
      body_hash TEXT NOT NULL,
      answer TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, operation, idempotency_key)
    )${keyed}`,
    'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
    `CREATE TABLE audit_entries (
      workspace_id TEXT NOT NULL,
      seq BIGINT NOT NULL,
      at BIGINT NOT NULL,
      actor TEXT NOT NULL,
      action TEXT NOT NULL,
      subject TEXT NOT NULL,
      data TEXT NOT NULL,
      previous_hash TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (workspace_id, seq)
    )${keyed}`,
  ];
}
