import { keyedTable, type RowOf } from './table.ts';

/** A link with which a person sets a new password; open until used, replaced or expired. */
const password_resets = keyedTable('link_hash', {
  /** SHA-256 of the token in the link. The token itself is not stored. */
  link_hash: 'TEXT NOT NULL',
  person_id: 'TEXT NOT NULL',
  /** `operator`: only the hub's command line creates links. */
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
  used_at: 'BIGINT',
  /** When a newer link or a change of the password replaced it. */
  replaced_at: 'BIGINT',
});
export type PasswordResetsTable = RowOf<typeof password_resets>;

export const passwordResetTables = { password_resets };

export const passwordResetIndexes = [
  // At most one unused link for each person, also when two are created at the same time.
  `CREATE UNIQUE INDEX password_resets_open ON password_resets (person_id)
    WHERE used_at IS NULL AND replaced_at IS NULL`,
  'CREATE INDEX password_resets_by_expiry ON password_resets (expires_at)',
];
