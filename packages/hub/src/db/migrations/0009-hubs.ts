import type { EngineName } from '../engine.ts';

/** What hubs on one PostgreSQL know of each other. SQLite has one hub, which knows itself. */
export function hubs(engine: EngineName): string[] {
  if (engine === 'sqlite') return [];
  return [
    // Written twice a second by each hub: a row that fits its page again and touches no index.
    `CREATE TABLE hubs (
      hub_id TEXT NOT NULL PRIMARY KEY,
      directory_id TEXT NOT NULL,
      started_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL
    ) WITH (fillfactor = 20)`,
    // Which hub does what only one should do, and until when.
    `CREATE TABLE hub_leases (
      name TEXT NOT NULL PRIMARY KEY,
      hub_id TEXT NOT NULL,
      expires_at BIGINT NOT NULL
    ) WITH (fillfactor = 20)`,
    `INSERT INTO hub_leases (name, hub_id, expires_at) VALUES ('loops', '', 0)`,
  ];
}
