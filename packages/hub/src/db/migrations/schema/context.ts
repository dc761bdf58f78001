/** Context items, packs, mail accounts and uploads. */
export const contextTables = [
  `CREATE TABLE context_items (
    workspace_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    source_ref TEXT,
    thread_ref TEXT,
    trust TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    occurred_at BIGINT NOT NULL,
    superseded_by TEXT,
    valid_from BIGINT,
    valid_to BIGINT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (workspace_id, item_id)
  )`,
  `CREATE UNIQUE INDEX context_items_by_source
    ON context_items (workspace_id, text_hash(source), text_hash(source_ref))
    WHERE source_ref IS NOT NULL`,
  'CREATE INDEX context_items_by_time ON context_items (workspace_id, occurred_at, item_id)',
  `CREATE INDEX context_items_current ON context_items (workspace_id, occurred_at, item_id)
    WHERE superseded_by IS NULL`,
  `CREATE INDEX context_items_pinned ON context_items (workspace_id, occurred_at, item_id)
    WHERE pinned = 1 AND superseded_by IS NULL`,
  `CREATE INDEX context_items_by_kind ON context_items
    (workspace_id, kind, occurred_at, item_id)`,
  `CREATE INDEX context_items_by_thread ON context_items
    (workspace_id, text_hash(thread_ref), occurred_at, item_id)
    WHERE thread_ref IS NOT NULL`,
  'CREATE INDEX context_items_by_age ON context_items (workspace_id, created_at)',
  `CREATE TABLE context_packs (
    workspace_id TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    content_hash TEXT NOT NULL,
    token_budget BIGINT NOT NULL,
    token_estimate BIGINT NOT NULL,
    expansion_hints TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, pack_id),
    UNIQUE (workspace_id, run_id, version)
  )`,
  `CREATE TABLE context_pack_items (
    workspace_id TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    item_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    source_ref TEXT,
    thread_ref TEXT,
    trust TEXT NOT NULL,
    truncated INTEGER NOT NULL,
    tokens BIGINT NOT NULL,
    fetched_at BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (workspace_id, pack_id, position)
  )`,
  'CREATE INDEX context_pack_items_by_item ON context_pack_items (workspace_id, item_id)',
  `CREATE TABLE mail_accounts (
    workspace_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    tls_mode TEXT NOT NULL,
    ca_certificate TEXT,
    user_name TEXT NOT NULL,
    auth_kind TEXT NOT NULL,
    sealed_secret TEXT NOT NULL,
    mailboxes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, account_id),
    UNIQUE (workspace_id, name)
  )`,
  `CREATE TABLE uploads (
    workspace_id TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    file_name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    sha256 TEXT,
    status TEXT NOT NULL,
    object_key TEXT,
    created_by TEXT NOT NULL,
    job_id TEXT,
    run_id TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    stored_at BIGINT,
    PRIMARY KEY (workspace_id, upload_id)
  ) WITHOUT ROWID`,
  `CREATE INDEX uploads_pending ON uploads (expires_at) WHERE status = 'pending'`,
  'CREATE INDEX uploads_by_age ON uploads (workspace_id, stored_at) WHERE stored_at IS NOT NULL',
  'CREATE INDEX uploads_by_content ON uploads (workspace_id, sha256) WHERE sha256 IS NOT NULL',
  // The uploads that jobs name. They live as long as the jobs.
  `CREATE TABLE upload_attachments (
    workspace_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    PRIMARY KEY (workspace_id, job_id, upload_id)
  ) WITHOUT ROWID`,
  `CREATE INDEX upload_attachments_by_upload
    ON upload_attachments (workspace_id, upload_id)`,
  // Objects that are being added to or deleted from the byte store.
  `CREATE TABLE upload_objects (
    workspace_id TEXT NOT NULL,
    object_key TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, object_key)
  ) WITHOUT ROWID`,
  'CREATE INDEX upload_objects_by_age ON upload_objects (created_at)',
  `CREATE TABLE upload_extracts (
    workspace_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    format TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    attempts INTEGER NOT NULL,
    available_at BIGINT NOT NULL,
    truncated INTEGER NOT NULL,
    context_item_id TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (workspace_id, content_hash, format)
  ) WITHOUT ROWID`,
  `CREATE INDEX upload_extracts_pending ON upload_extracts (available_at)
    WHERE status = 'pending'`,
  `CREATE INDEX upload_extracts_by_age ON upload_extracts (workspace_id, finished_at)
    WHERE finished_at IS NOT NULL`,
  // The bytes and number of uploads of each workspace (an empty job) and of each job. An upload counts as at
  // least 4 KB, so that empty ones are bounded too.
  `CREATE TABLE upload_usage (
    workspace_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    upload_count BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, job_id)
  ) WITHOUT ROWID`,
];
