import type { EngineName } from '../engine.ts';

/** Invitations, and indexes for the filters of the audit log. */
export function membersInvitations(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
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
    )${keyed}`,
    // At most one open invitation per address, even when two people invite at once.
    `CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email)
      WHERE accepted_at IS NULL AND revoked_at IS NULL`,
    'CREATE INDEX audit_entries_by_actor ON audit_entries (workspace_id, actor, seq)',
    'CREATE INDEX audit_entries_by_action ON audit_entries (workspace_id, action, seq)',
    'CREATE INDEX audit_entries_by_subject ON audit_entries (workspace_id, subject, seq)',
  ];
}
