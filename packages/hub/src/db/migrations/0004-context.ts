import type { EngineName } from '../engine.ts';

/** Context items, the packs made of them, and the mail accounts that live mail is read with. */
export function context(engine: EngineName): string[] {
  return [...itemTables(), ...packTables(), ...mailTables(), ...searchTables(engine)];
}

/** Rows are long, so they are stored by row id: long rows make a tree without row ids deep. */
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

/** The word index; `context/search/sqlite-search.ts` and `search-postgres.ts` say what is in it. */
function searchTables(engine: EngineName): string[] {
  return engine === 'sqlite' ? sqliteSearchTables() : postgresSearchTables();
}

/**
 * The index keeps no text of its own (contentless), and no positions (detail=column): searching
 * reads half as much. Its numeric row ids need a table from and to item ids.
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
 * - Keys go out of the row as soon as they can: a search reads many rows and no row's keys.
 * - The cost of the function keeps the planner from reading keys row by row; statistics on words
 *   would only make it waver.
 * - No pending list (fastupdate): each search would read all of it, and one writer in a thousand
 *   would write what the others left.
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
