import { hash, randomBytes } from 'node:crypto';
import type { Database, Reader, Tx } from '../db/engine.ts';
import type { InvitationsTable } from '../db/schema/invitations.ts';

export type InvitationRow = InvitationsTable;
/** With the name of the person who invited; null: no person did. */
export type InvitationWithInviter = InvitationRow & { inviter_name: string | null };

const LINK_BYTES = 32;
const INVITATION = `SELECT i.*, p.name AS inviter_name FROM invitations i
  LEFT JOIN people p ON p.person_id = i.created_by`;
const OPEN = 'i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > ?';

/** What the link carries; 32 random bytes need neither salt nor a slow hash. */
export function drawLinkToken(): string {
  return randomBytes(LINK_BYTES).toString('base64url');
}

export function hashLinkToken(linkToken: string): string {
  return hash('sha256', linkToken);
}

export async function insertInvitation(
  database: Database,
  tx: Tx,
  draft: Omit<InvitationRow, 'accepted_at' | 'accepted_by' | 'revoked_at'>,
): Promise<void> {
  const row: InvitationRow = { ...draft, accepted_at: null, accepted_by: null, revoked_at: null };
  await tx.run(database.build.insertInto('invitations').values(row));
}

/** Finds an open invitation by its link: here the workspace is the answer, not the question. */
export function readOpenInvitationByLink(
  reader: Reader,
  linkToken: string,
  nowMs: number,
): Promise<InvitationWithInviter | undefined> {
  return reader.firstSql<InvitationWithInviter>(`${INVITATION} WHERE i.link_hash = ? AND ${OPEN}`, [
    hashLinkToken(linkToken),
    nowMs,
  ]);
}

export function readOpenInvitation(
  reader: Reader,
  workspaceId: string,
  invitationId: string,
  nowMs: number,
): Promise<InvitationWithInviter | undefined> {
  return reader.firstSql<InvitationWithInviter>(
    `${INVITATION} WHERE i.workspace_id = ? AND i.invitation_id = ? AND ${OPEN}`,
    [workspaceId, invitationId, nowMs],
  );
}

/** Newest first; one more than `limit`. */
export function listOpenInvitations(
  reader: Reader,
  workspaceId: string,
  nowMs: number,
  page: { limit: number; before: string | null },
): Promise<InvitationWithInviter[]> {
  const isBefore = page.before === null ? '' : 'AND i.invitation_id < ?';
  return reader.allSql<InvitationWithInviter>(
    `${INVITATION} WHERE i.workspace_id = ? AND ${OPEN} ${isBefore}
     ORDER BY i.invitation_id DESC LIMIT ?`,
    [workspaceId, nowMs, ...(page.before === null ? [] : [page.before]), page.limit + 1],
  );
}

/** Those that a person has made and nobody has used. */
export function listOpenInvitationsBy(
  reader: Reader,
  workspaceId: string,
  personId: string,
  nowMs: number,
): Promise<InvitationRow[]> {
  return reader.allSql<InvitationRow>(
    `SELECT i.* FROM invitations i WHERE i.workspace_id = ? AND i.created_by = ? AND ${OPEN}`,
    [workspaceId, personId, nowMs],
  );
}

export async function markInvitationRevoked(
  tx: Tx,
  workspaceId: string,
  invitationId: string,
): Promise<void> {
  await tx.runSql(
    `UPDATE invitations SET revoked_at = ?
     WHERE workspace_id = ? AND invitation_id = ? AND accepted_at IS NULL AND revoked_at IS NULL`,
    [tx.nowMs, workspaceId, invitationId],
  );
}

/** Ends what an address was invited by before, expired ones too. Returns how many. */
export async function revokeInvitationsOf(
  tx: Tx,
  workspaceId: string,
  email: string,
): Promise<number> {
  const { changes } = await tx.runSql(
    `UPDATE invitations SET revoked_at = ?
     WHERE workspace_id = ? AND email = ? AND accepted_at IS NULL AND revoked_at IS NULL`,
    [tx.nowMs, workspaceId, email],
  );
  return changes;
}

/** Uses an invitation up; false when somebody was faster, or it has ended. */
export async function markInvitationAccepted(
  tx: Tx,
  { workspace_id, invitation_id }: Pick<InvitationRow, 'workspace_id' | 'invitation_id'>,
  personId: string,
): Promise<boolean> {
  const { changes } = await tx.runSql(
    `UPDATE invitations SET accepted_at = ?, accepted_by = ?
     WHERE workspace_id = ? AND invitation_id = ?
       AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ?`,
    [tx.nowMs, personId, workspace_id, invitation_id, tx.nowMs],
  );
  return changes > 0;
}
