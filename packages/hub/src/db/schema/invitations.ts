import { keyedTable, of, type RowOf } from './table.ts';

/** An invitation of one address to a workspace; open until accepted, revoked or expired. */
const invitations = keyedTable('workspace_id, invitation_id', {
  workspace_id: 'TEXT NOT NULL',
  invitation_id: 'TEXT NOT NULL',
  /** SHA-256 of the token in the link; the token itself is not stored. */
  link_hash: 'TEXT NOT NULL UNIQUE',
  /** In lower case, as addresses are compared. */
  email: 'TEXT NOT NULL',
  role: of<'owner' | 'admin' | 'member' | 'viewer'>('TEXT NOT NULL'),
  /** A person's id, or `operator`. */
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
  accepted_at: 'BIGINT',
  accepted_by: 'TEXT',
  revoked_at: 'BIGINT',
});
export type InvitationsTable = RowOf<typeof invitations>;

export const invitationTables = { invitations };

export const invitationIndexes = [
  // At most one open invitation per address, even when two people invite at once.
  `CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL`,
];
