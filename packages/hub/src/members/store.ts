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

/** Reads an open invitation by its link alone: the link determines the workspace. */
export function readOpenInvitationByLink(
  reader: Reader,
  linkToken: string,
  nowMs: number,
): Promise<InvitationRow | undefined> {
  return reader.firstSql<InvitationRow>(
    `SELECT ${allColumns.invitations} FROM invitations WHERE link_hash = ? AND ${OPEN}`,
    [hashLinkToken(linkToken), nowMs],
  );
}

export function readOpenInvitation(
  reader: Reader,
  workspaceId: string,
  invitationId: string,
  nowMs: number,
): Promise<InvitationRow | undefined> {
  return reader.firstSql<InvitationRow>(
    `SELECT ${allColumns.invitations} FROM invitations WHERE workspace_id = ? AND invitation_id = ? AND ${OPEN}`,
    [workspaceId, invitationId, nowMs],
  );
}

/** Newest first; one more than `limit`. */
export function listOpenInvitations(
  reader: Reader,
  workspaceId: string,
  nowMs: number,
  page: { limit: number; before: string | null },
): Promise<InvitationRow[]> {
  const isBefore = page.before === null ? '' : 'AND invitation_id < ?';
  return reader.allSql<InvitationRow>(
    `SELECT ${allColumns.invitations} FROM invitations WHERE workspace_id = ? AND ${OPEN} ${isBefore}
     ORDER BY invitation_id DESC LIMIT ?`,
    [workspaceId, nowMs, ...(page.before === null ? [] : [page.before]), page.limit + 1],
  );
}

/** The open invitations that a person has created in a workspace. */
export function listOpenInvitationsBy(
  reader: Reader,
  workspaceId: string,
  personId: string,
  nowMs: number,
): Promise<InvitationRow[]> {
  return reader.allSql<InvitationRow>(
    `SELECT ${allColumns.invitations} FROM invitations WHERE workspace_id = ? AND created_by = ? AND ${OPEN}`,
    [workspaceId, personId, nowMs],
  );
}

/** The open invitations that a person has created in any workspace. */
export function listAllOpenInvitationsBy(
  reader: Reader,
  personId: string,
  nowMs: number,
): Promise<InvitationRow[]> {
  return reader.allSql<InvitationRow>(
    `SELECT ${allColumns.invitations} FROM invitations WHERE created_by = ? AND ${OPEN}
     ORDER BY workspace_id, invitation_id`,
    [personId, nowMs],
  );
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

/** Revokes the unused invitations of an address, including expired ones. Returns how many. */
export async function revokeInvitationsOf(
  tx: Tx,
  workspaceId: string,
  email: string,
): Promise<number> {
  const changes = await updateRows(
    tx,
    'invitations',
    { workspace_id: workspaceId, email, accepted_at: null, revoked_at: null },
    { revoked_at: tx.nowMs },
  );
  return changes;
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
