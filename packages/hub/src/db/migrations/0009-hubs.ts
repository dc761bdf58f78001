import type { EngineName } from '../engine.ts';

/** The hubs that share one PostgreSQL. With SQLite there is only one hub, so no table. */
export function hubs(engine: EngineName): string[] {
  if (engine === 'sqlite') return [];
  return [
    // Each hub updates its row twice a second: the update stays in its page and changes no index.
    `CREATE TABLE hubs (
      hub_id TEXT NOT NULL PRIMARY KEY,
      directory_id TEXT NOT NULL,
      started_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL
    ) WITH (fillfactor = 20)`,
    // The leader: the hub that does the work of only one hub, and until when.
    `CREATE TABLE hub_leases (
      name TEXT NOT NULL PRIMARY KEY,
      hub_id TEXT NOT NULL,
      expires_at BIGINT NOT NULL
    ) WITH (fillfactor = 20)`,
    `INSERT INTO hub_leases (name, hub_id, expires_at) VALUES ('loops', '', 0)`,
  ];
}
