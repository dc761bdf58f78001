/** An invitation of one address to a workspace; open until accepted, revoked or expired. */
export interface InvitationsTable {
  workspace_id: string;
  invitation_id: string;
  /** SHA-256 of the token in the link; the token itself is not stored. */
  link_hash: string;
  /** In lower case, as addresses are compared. */
  email: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  /** A person's id, or `operator`. */
  created_by: string;
  created_at: number;
  expires_at: number;
  accepted_at: number | null;
  accepted_by: string | null;
  revoked_at: number | null;
}

export interface InvitationTables {
  invitations: InvitationsTable;
}
