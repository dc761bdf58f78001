import { conditions } from '../db/conditions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { InvitationsTable } from '../db/schema/invitations.ts';
import { hashLinkToken } from '../people/link-token.ts';

export type InvitationRow = InvitationsTable;

/** The condition of open invitations; its parameter is the current time. */
const OPEN = 'accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ?';

export async function insertInvitation(
  tx: Tx,
  draft: Omit<InvitationRow, 'accepted_at' | 'accepted_by' | 'revoked_at'>,
): Promise<InvitationRow> {
  const row: InvitationRow = { ...draft, accepted_at: null, accepted_by: null, revoked_at: null };
  insertRow(tx, 'invitations', row);
  return row;
}

/** Reads an invitation by its link, also one that was used or revoked or has expired. */
export function readInvitationByLink(
  reader: Reader,
  linkToken: string,
): Promise<InvitationRow | undefined> {
  return reader.firstSql<InvitationRow>(
    `SELECT ${allColumns.invitations} FROM invitations WHERE link_hash = ?`,
    [hashLinkToken(linkToken)],
  );
}

const SELECT_OPEN = `SELECT ${allColumns.invitations} FROM invitations WHERE ${OPEN}`;

/** Reads an open invitation by its link alone: the link determines the workspace. */
export function readOpenInvitationByLink(
  reader: Reader,
  linkToken: string,
  nowMs: number,
): Promise<InvitationRow | undefined> {
  return reader.firstSql(`${SELECT_OPEN} AND link_hash = ?`, [nowMs, hashLinkToken(linkToken)]);
}

export function readOpenInvitation(
  reader: Reader,
  workspaceId: string,
  invitationId: string,
  nowMs: number,
): Promise<InvitationRow | undefined> {
  return reader.firstSql(`${SELECT_OPEN} AND workspace_id = ? AND invitation_id = ?`, [
    nowMs,
    workspaceId,
    invitationId,
  ]);
}

/** Newest first; one more than `limit`. */
export function listOpenInvitations(
  reader: Reader,
  workspaceId: string,
  nowMs: number,
  page: { limit: number; before: string | null },
): Promise<InvitationRow[]> {
  const given = conditions([
    ['workspace_id = ?', workspaceId],
    ['invitation_id < ?', page.before],
  ]);
  return reader.allSql(`${SELECT_OPEN} AND ${given.sql} ORDER BY invitation_id DESC LIMIT ?`, [
    nowMs,
    ...given.values,
    page.limit + 1,
  ]);
}

/** The open invitations that a person has created, in a workspace or in all (null). */
export function listOpenInvitationsBy(
  reader: Reader,
  workspaceId: string | null,
  personId: string,
  nowMs: number,
): Promise<InvitationRow[]> {
  const given = conditions([
    ['created_by = ?', personId],
    ['workspace_id = ?', workspaceId],
  ]);
  return reader.allSql(`${SELECT_OPEN} AND ${given.sql} ORDER BY workspace_id, invitation_id`, [
    nowMs,
    ...given.values,
  ]);
}

export async function markInvitationRevoked(
  tx: Tx,
  workspaceId: string,
  invitationId: string,
): Promise<void> {
  await updateRows(
    tx,
    'invitations',
    { workspace_id: workspaceId, invitation_id: invitationId, accepted_at: null, revoked_at: null },
    { revoked_at: tx.nowMs },
  );
}

/** Marks an invitation as used. Returns false if it is no longer open. */
export async function markInvitationAccepted(
  tx: Tx,
  { workspace_id, invitation_id }: Pick<InvitationRow, 'workspace_id' | 'invitation_id'>,
  personId: string,
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'invitations',
    {
      workspace_id,
      invitation_id,
      accepted_at: null,
      revoked_at: null,
      also: sql('expires_at > ?', tx.nowMs),
    },
    { accepted_at: tx.nowMs, accepted_by: personId },
  );
  return changes > 0;
}

/**
 * Revokes the unused invitations of all workspaces, also expired ones. Returns how many were open.
 */
export async function revokeAllInvitations(tx: Tx): Promise<number> {
  const open = await tx.firstSql<{ n: number }>(
    `SELECT COUNT(*) AS n FROM invitations WHERE ${OPEN}`,
    [tx.nowMs],
  );
  await updateRows(
    tx,
    'invitations',
    { accepted_at: null, revoked_at: null },
    { revoked_at: tx.nowMs },
  );
  return Number(open?.n ?? 0);
}
