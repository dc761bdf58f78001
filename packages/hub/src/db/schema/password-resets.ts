/** A link with which a person sets a new password; open until used, replaced or expired. */
export interface PasswordResetsTable {
  /** SHA-256 of the token in the link. The token itself is not stored. */
  link_hash: string;
  person_id: string;
  /** `operator`: only the hub's command line creates links. */
  created_by: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  /** When a newer link or a change of the password replaced it. */
  replaced_at: number | null;
}

export interface PasswordResetTables {
  password_resets: PasswordResetsTable;
}
