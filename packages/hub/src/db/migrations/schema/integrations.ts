/** The ledger of inbound events, chat teams, triggers and their firings. */
export const integrationTables = [
  `CREATE TABLE integration_events (
    workspace_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    channel TEXT NOT NULL,
    source TEXT NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    ignored_reason TEXT,
    context_item_id TEXT,
    occurred_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    replays INTEGER NOT NULL,
    unmatched TEXT NOT NULL,
    forgotten_at BIGINT,
    title TEXT,
    actor TEXT,
    thread_ref TEXT,
    source_ref TEXT,
    data TEXT,
    extensions TEXT,
    content TEXT,
    PRIMARY KEY (workspace_id, event_id),
    UNIQUE (workspace_id, key_hash)
  )`,
  'CREATE INDEX integration_events_by_age ON integration_events (workspace_id, received_at)',
  `CREATE INDEX integration_events_remembered ON integration_events (workspace_id, received_at)
    WHERE forgotten_at IS NULL`,
  `CREATE INDEX integration_events_by_ref
    ON integration_events (workspace_id, text_hash(source_ref))
    WHERE source_ref IS NOT NULL`,
  `CREATE TABLE chat_teams (
    workspace_id TEXT NOT NULL,
    team_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, team_id)
  ) WITHOUT ROWID`,
  // Several workspaces may claim a team; the code that the team sends decides.
  `CREATE TABLE chat_team_claims (
    workspace_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    name TEXT NOT NULL,
    code TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, team_id)
  ) WITHOUT ROWID`,
  'CREATE INDEX chat_team_claims_by_team ON chat_team_claims (team_id, code)',
  `CREATE TABLE integration_secrets (
    workspace_id TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT,
    PRIMARY KEY (workspace_id, secret_id)
  ) WITHOUT ROWID`,
  `CREATE TABLE triggers (
    workspace_id TEXT NOT NULL,
    trigger_id TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    match TEXT,
    cron TEXT,
    time_zone TEXT,
    repo_id TEXT NOT NULL,
    run_ref_template TEXT NOT NULL,
    title_template TEXT,
    prompt_template TEXT NOT NULL,
    priority INTEGER NOT NULL,
    hourly_cap INTEGER NOT NULL,
    next_fire_at BIGINT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, trigger_id)
  )`,
  'CREATE INDEX triggers_due ON triggers (next_fire_at) WHERE next_fire_at IS NOT NULL',
  `CREATE TABLE trigger_firings (
    workspace_id TEXT NOT NULL,
    trigger_id TEXT NOT NULL,
    cause TEXT NOT NULL,
    replay INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    run_id TEXT,
    job_id TEXT,
    missed_slots INTEGER NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, cause, replay, trigger_id)
  ) WITHOUT ROWID`,
  // At most one run for each trigger and cause, even in a race.
  `CREATE UNIQUE INDEX trigger_firings_started ON trigger_firings
    (workspace_id, trigger_id, cause)
    WHERE outcome = 'started'`,
  'CREATE INDEX trigger_firings_latest ON trigger_firings (workspace_id, trigger_id, at)',
  `CREATE INDEX trigger_firings_by_time ON trigger_firings (workspace_id, trigger_id, at)
    WHERE outcome = 'started'`,
  // Only firings of schedules; those of events are deleted with their events.
  `CREATE INDEX trigger_firings_of_slots ON trigger_firings (at)
    WHERE cause >= 'slot:' AND cause < 'slot;'`,
];
