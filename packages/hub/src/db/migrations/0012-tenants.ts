import type { EngineName } from '../engine.ts';

/** Chat teams that wait for a proof, secrets of workspaces, and who created each workspace. */
export function tenants(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
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
    )${keyed}`,
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
    )${keyed}`,
    // 0: a person created it at the console. The hub's own secret does not open it by default.
    'ALTER TABLE workspaces ADD COLUMN created_by_operator INTEGER NOT NULL DEFAULT 1',
  ];
}
