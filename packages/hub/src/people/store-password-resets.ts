import type { Reader, Tx } from '../db/engine.ts';
import { sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { PasswordResetsTable } from '../db/schema/password-resets.ts';

export type PasswordResetRow = PasswordResetsTable;

const open = { used_at: null, replaced_at: null };

export function readPasswordReset(
  reader: Reader,
  linkHash: string,
): Promise<PasswordResetRow | undefined> {
  return reader.firstSql<PasswordResetRow>(
    `SELECT ${allColumns.password_resets} FROM password_resets WHERE link_hash = ?`,
    [linkHash],
  );
}

/** Replaces the unused link of a person, also an expired one. Returns how many there were. */
export async function markPasswordResetsReplaced(tx: Tx, personId: string): Promise<number> {
  return updateRows(
    tx,
    'password_resets',
    { person_id: personId, ...open },
    { replaced_at: tx.nowMs },
  );
}

/** Marks a link as used. Returns false if it is no longer open. */
export async function markPasswordResetUsed(tx: Tx, linkHash: string): Promise<boolean> {
  const isValid = sql('expires_at > ?', tx.nowMs);
  const where = { link_hash: linkHash, ...open, also: isValid };
  const changes = await updateRows(tx, 'password_resets', where, { used_at: tx.nowMs });
  return changes > 0;
}

/** Ends the unused links of all people, also expired ones. Returns how many were not expired. */
export async function endAllPasswordResets(tx: Tx): Promise<number> {
  const valid = await tx.firstSql<{ n: number }>(
    `SELECT COUNT(*) AS n FROM password_resets WHERE used_at IS NULL AND replaced_at IS NULL AND expires_at > ?`,
    [tx.nowMs],
  );
  await updateRows(tx, 'password_resets', open, { replaced_at: tx.nowMs });
  return Number(valid?.n ?? 0);
}
