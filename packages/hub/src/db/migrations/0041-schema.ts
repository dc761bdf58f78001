import type { EngineName } from '../engine.ts';
import { contextTables } from './schema/context.ts';
import { integrationTables } from './schema/integrations.ts';
import { jobTables } from './schema/jobs.ts';
import { notificationTables } from './schema/notifications.ts';
import { peopleTables } from './schema/people.ts';
import { queueTables } from './schema/queue.ts';

/**
 * The schema of 0.1.0. It has the number of the last of the steps that led to it before that
 * release, so a database of that time that has taken all of them is up to date.
 *
 * The tables are written once for both engines. On SQLite, those that are only read by key are
 * stored in the key's tree (WITHOUT ROWID), which saves writing a second one; long rows would make
 * such a tree deep.
 */
export function schema(engine: EngineName): string[] {
  const tables = [
    ...[peopleTables, queueTables, jobTables, contextTables, integrationTables],
    notificationTables,
  ].flat();
  const texts = tables.map((table) => (typeof table === 'string' ? table : table[engine]));
  if (engine === 'sqlite') {
    const plain = texts.map((text) => text.replaceAll(/text_hash\((\w+)\)/g, '$1'));
    return [...plain, leaseExpiry, ...sqliteSearchTables];
  }
  const keyed = texts.map((text) => text.replace(/ WITHOUT ROWID$/, ''));
  return [...functions, ...keyed, ...hubTables, ...postgresSearchTables, ...storageStatements];
}

const functions = [
  // Returns the values of a JSON array, like SQLite's function of this name.
  `CREATE FUNCTION json_each(list text) RETURNS TABLE (value text)
    LANGUAGE sql IMMUTABLE ROWS 10 AS 'SELECT jsonb_array_elements_text(list::jsonb)'`,
  // An index entry holds about 2,700 bytes, and references may be longer: indexes hold hashes of
  // them. `matchText` (`db/text-hash.ts`) writes the conditions that use them. PL/pgSQL, because
  // convert_to counts as dependent on settings, although it is not for UTF8.
  `CREATE FUNCTION text_hash(value text) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS 'BEGIN RETURN sha256(convert_to(value, ''UTF8'')); END'`,
];

/**
 * On SQLite the leases that have expired are found by an index, since the sweeper looks for them
 * twice a second on the event loop: through 10,000 leases it took 13 ms. The index adds 3 µs to a
 * renewal. On PostgreSQL it would make each renewal write all indexes of the entry again.
 */
const leaseExpiry = `CREATE INDEX queue_entries_expiring ON queue_entries (lease_expires_at)
  WHERE status = 'running'`;

/** The hubs that share one PostgreSQL. With SQLite there is only one hub. */
const hubTables = [
  // Each hub updates its row twice a second: the update stays in its page and changes no index.
  `CREATE TABLE hubs (
    hub_id TEXT NOT NULL PRIMARY KEY,
    directory_id TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    host TEXT NOT NULL DEFAULT '',
    address TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT ''
  ) WITH (fillfactor = 20)`,
  // The leader: the hub that does the work of only one hub, and until when.
  `CREATE TABLE hub_leases (
    name TEXT NOT NULL PRIMARY KEY,
    hub_id TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  ) WITH (fillfactor = 20)`,
  `INSERT INTO hub_leases (name, hub_id, expires_at) VALUES ('loops', '', 0)`,
];

/*
 * The word index; the files of `context/search/` for the two engines describe its content.
 */

/**
 * The index stores no text (contentless) and no positions (detail=column), so a search reads half
 * as much. Its numeric row ids need a table that maps them to item ids.
 */
const sqliteSearchTables = [
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

/**
 * - Keys are stored outside of the row early: a search reads many rows and no keys of theirs.
 * - The cost of the function keeps the planner from reading keys row by row; statistics about words
 *   would only make its plans unstable.
 * - No pending list (fastupdate): each search would read all of it, and one writer in a thousand
 *   would have to write the entries of all the others.
 */
const postgresSearchTables = [
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
