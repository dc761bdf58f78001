import type { Reader, Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';

/** A membership with the person that it is of. */
export interface MemberRow {
  person_id: string;
  email: string;
  name: string;
  role: Role;
  created_at: number;
}

const MEMBER = `SELECT m.person_id, p.email, p.name, m.role, m.created_at
  FROM memberships m JOIN people p ON p.person_id = m.person_id`;

/** In the order of the people's ids; one more than `limit`. */
export function listMembers(
  reader: Reader,
  workspaceId: string,
  page: { limit: number; after: string | null },
): Promise<MemberRow[]> {
  return reader.allSql<MemberRow>(
    `${MEMBER} WHERE m.workspace_id = ? AND m.person_id > ? ORDER BY m.person_id LIMIT ?`,
    [workspaceId, page.after ?? '', page.limit + 1],
  );
}

export function readMember(
  reader: Reader,
  workspaceId: string,
  personId: string,
): Promise<MemberRow | undefined> {
  return reader.firstSql<MemberRow>(`${MEMBER} WHERE m.workspace_id = ? AND m.person_id = ?`, [
    workspaceId,
    personId,
  ]);
}

/**
 * Counts the owners of a workspace and, by writing their rows as they are, keeps them from changing
 * until the action ends: two owners who demote each other at once do not both succeed.
 */
export async function lockOwners(tx: Tx, workspaceId: string): Promise<number> {
  const { changes } = await tx.runSql(
    "UPDATE memberships SET role = role WHERE workspace_id = ? AND role = 'owner'",
    [workspaceId],
  );
  return changes;
}

export async function updateRole(
  tx: Tx,
  workspaceId: string,
  personId: string,
  role: Role,
): Promise<void> {
  await tx.runSql('UPDATE memberships SET role = ? WHERE workspace_id = ? AND person_id = ?', [
    role,
    workspaceId,
    personId,
  ]);
}

export async function deleteMembership(
  tx: Tx,
  workspaceId: string,
  personId: string,
): Promise<void> {
  await tx.runSql('DELETE FROM memberships WHERE workspace_id = ? AND person_id = ?', [
    workspaceId,
    personId,
  ]);
}
