import type { EngineName } from '../engine.ts';

/** Context items, packs, and the mail accounts for live mail. */
export function context(engine: EngineName): string[] {
  return [...itemTables(), ...packTables(), ...mailTables(), ...searchTables(engine)];
}

/** Stored by row id, because long rows make a tree without row ids deep. */
function itemTables(): string[] {
  return [
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
    `CREATE UNIQUE INDEX context_items_by_source ON context_items (workspace_id, source, source_ref)
      WHERE source_ref IS NOT NULL`,
    `CREATE INDEX context_items_by_time ON context_items (workspace_id, occurred_at, item_id)`,
    `CREATE INDEX context_items_current ON context_items (workspace_id, occurred_at, item_id)
      WHERE superseded_by IS NULL`,
    `CREATE INDEX context_items_pinned ON context_items (workspace_id, occurred_at, item_id)
      WHERE pinned = 1 AND superseded_by IS NULL`,
    `CREATE INDEX context_items_by_kind
      ON context_items (workspace_id, kind, occurred_at, item_id)`,
    `CREATE INDEX context_items_by_thread
      ON context_items (workspace_id, thread_ref, occurred_at, item_id)
      WHERE thread_ref IS NOT NULL`,
    `CREATE INDEX context_items_by_age ON context_items (workspace_id, created_at)`,
  ];
}

function packTables(): string[] {
  return [
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
    `CREATE INDEX context_pack_items_by_item ON context_pack_items (workspace_id, item_id)`,
  ];
}

function mailTables(): string[] {
  return [
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
  ];
}

/** The word index; the files of `context/search/` for the two engines describe its content. */
function searchTables(engine: EngineName): string[] {
  return engine === 'sqlite' ? sqliteSearchTables() : postgresSearchTables();
}

/**
 * The index stores no text (contentless) and no positions (detail=column), so a search reads half
 * as much. Its numeric row ids need a table that maps them to item ids.
 */
function sqliteSearchTables(): string[] {
  return [
    `CREATE TABLE context_search_rows (
      row_id INTEGER PRIMARY KEY AUTOINCREMENT,
      workspace_id TEXT NOT NULL,
      item_id TEXT NOT NULL,
      UNIQUE (workspace_id, item_id)
    )`,
    `CREATE VIRTUAL TABLE context_search USING fts5 (
      title, text, content = '', contentless_delete = 1, detail = column, tokenize = 'porter ascii'
    )`,
  ];
}

/**
 * - Keys are stored outside of the row early: a search reads many rows and no keys of theirs.
 * - The cost of the function keeps the planner from reading keys row by row; statistics about words
 *   would only make its plans unstable.
 * - No pending list (fastupdate): each search would read all of it, and one writer in a thousand
 *   would have to write the entries of all the others.
 */
function postgresSearchTables(): string[] {
  return [
    `CREATE TABLE context_search_workspaces (
      workspace_id TEXT NOT NULL PRIMARY KEY,
      workspace_no BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,
      rows_written BIGINT NOT NULL,
      items BIGINT NOT NULL,
      terms BIGINT NOT NULL
    ) WITH (fillfactor = 50)`,
    `CREATE TABLE context_search (
      workspace_id TEXT NOT NULL,
      item_id TEXT NOT NULL,
      row_no BIGINT NOT NULL,
      terms BIGINT NOT NULL,
      keys TEXT NOT NULL,
      PRIMARY KEY (workspace_id, item_id)
    ) WITH (toast_tuple_target = 256)`,
    `CREATE FUNCTION context_search_keys(keys text) RETURNS text[]
      LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100
      AS 'BEGIN RETURN string_to_array(keys, '' ''); END'`,
    `CREATE INDEX context_search_by_key ON context_search
      USING gin (context_search_keys(keys)) WITH (fastupdate = off)`,
    'ALTER INDEX context_search_by_key ALTER COLUMN 1 SET STATISTICS 0',
  ];
}
