/** Workspaces, people, sessions, tokens, device logins, the audit log and idempotency keys. */
export const peopleTables = [
  `CREATE TABLE workspaces (
    workspace_id TEXT NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    content_storage TEXT NOT NULL,
    retention_days BIGINT,
    redact_secrets INTEGER NOT NULL,
    queue_paused_at BIGINT,
    created_by_operator INTEGER NOT NULL DEFAULT 1,
    queue_paused_by TEXT,
    queue_pause_reason TEXT,
    ask_owners_after_minutes INTEGER NOT NULL DEFAULT 15
  ) WITHOUT ROWID`,
  `CREATE TABLE hub_settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) WITHOUT ROWID`,
  // Several accounts may have one e-mail address: an address is no proof of a person.
  `CREATE TABLE people (
    person_id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    quiet_hours TEXT,
    absent_until BIGINT,
    digest_hours INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID`,
  'CREATE INDEX people_by_email ON people (email, created_at, person_id)',
  `CREATE TABLE memberships (
    workspace_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
  ) WITHOUT ROWID`,
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
  ) WITHOUT ROWID`,
  'CREATE INDEX sessions_by_person ON sessions (person_id)',
  'CREATE INDEX sessions_by_expiry ON sessions (expires_at)',
  // Links with which people replace a lost password.
  `CREATE TABLE password_resets (
    link_hash TEXT NOT NULL PRIMARY KEY,
    person_id TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    replaced_at BIGINT
  ) WITHOUT ROWID`,
  // At most one unused link for each person, also when two are created at the same time.
  `CREATE UNIQUE INDEX password_resets_open ON password_resets (person_id)
    WHERE used_at IS NULL AND replaced_at IS NULL`,
  'CREATE INDEX password_resets_by_expiry ON password_resets (expires_at)',
  `CREATE TABLE invitations (
    workspace_id TEXT NOT NULL,
    invitation_id TEXT NOT NULL,
    link_hash TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT,
    accepted_by TEXT,
    revoked_at BIGINT,
    PRIMARY KEY (workspace_id, invitation_id)
  ) WITHOUT ROWID`,
  // At most one open invitation per address, even when two people invite at once.
  `CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL`,
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
    renewable_until BIGINT,
    PRIMARY KEY (workspace_id, token_id)
  ) WITHOUT ROWID`,
  `CREATE TABLE oauth_secrets (
    secret_hash TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    token_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    redirect_uri TEXT,
    code_challenge TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    sealed_tokens TEXT
  ) WITHOUT ROWID`,
  'CREATE INDEX oauth_secrets_by_expiry ON oauth_secrets (expires_at)',
  `CREATE TABLE oauth_clients (
    client_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    address_block TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
  ) WITHOUT ROWID`,
  'CREATE INDEX oauth_clients_by_expiry ON oauth_clients (expires_at)',
  'CREATE INDEX oauth_clients_by_block ON oauth_clients (address_block, created_at)',
  `CREATE TABLE token_repositories (
    workspace_id TEXT NOT NULL,
    token_id TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    PRIMARY KEY (workspace_id, token_id, repo_id)
  ) WITHOUT ROWID`,
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
    sealed_token TEXT NOT NULL,
    address_block TEXT NOT NULL DEFAULT ''
  ) WITHOUT ROWID`,
  'CREATE INDEX device_sessions_by_expiry ON device_sessions (expires_at)',
  // They are counted by block of addresses and workspace.
  `CREATE INDEX device_sessions_by_block ON device_sessions
    (address_block, expires_at, workspace_slug)`,
  `CREATE TABLE device_code_failures (
    address TEXT NOT NULL,
    at BIGINT NOT NULL
  )`,
  'CREATE INDEX device_code_failures_by_address ON device_code_failures (address, at)',
  'CREATE INDEX device_code_failures_by_age ON device_code_failures (at)',
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
  ) WITHOUT ROWID`,
  'CREATE INDEX audit_entries_by_actor ON audit_entries (workspace_id, actor, seq)',
  'CREATE INDEX audit_entries_by_action ON audit_entries (workspace_id, action, seq)',
  'CREATE INDEX audit_entries_by_subject ON audit_entries (workspace_id, subject, seq)',
  // A key is bound to the principal that sent it.
  `CREATE TABLE idempotency_keys (
    workspace_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, operation, idempotency_key, principal_id)
  ) WITHOUT ROWID`,
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
];
