import type { EngineName } from '../engine.ts';

/** Links with which people replace a lost password. */
export function passwordResets(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
    `CREATE TABLE password_resets (
      link_hash TEXT NOT NULL PRIMARY KEY,
      person_id TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      used_at BIGINT,
      replaced_at BIGINT
    )${keyed}`,
    // At most one unused link for each person, also when two are created at the same time.
    `CREATE UNIQUE INDEX password_resets_open ON password_resets (person_id)
      WHERE used_at IS NULL AND replaced_at IS NULL`,
    'CREATE INDEX password_resets_by_expiry ON password_resets (expires_at)',
  ];
}
