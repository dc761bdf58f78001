import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { MembershipsTable, Role } from '../db/schema/tables.ts';

export type MembershipRow = MembershipsTable;

/** A person belongs to few workspaces; the limit bounds what one request reads. */
const WORKSPACES_OF_PERSON_MAX = 1_000;
const OWNERS_MAX = 1_000;

/** A person's role in a workspace; null if they are not a member. */
export async function readRole(
  reader: Reader,
  personId: string,
  workspaceId: string,
): Promise<Role | null> {
  return (await readMembership(reader, workspaceId, personId))?.role ?? null;
}

export function readMembership(
  reader: Reader,
  workspaceId: string,
  personId: string,
): Promise<MembershipRow | undefined> {
  return reader.firstSql<MembershipRow>(
    `SELECT ${allColumns.memberships} FROM memberships WHERE workspace_id = ? AND person_id = ?`,
    [workspaceId, personId],
  );
}

/** The memberships of a person in all workspaces. */
export function listMembershipsOfPerson(
  reader: Reader,
  personId: string,
): Promise<MembershipRow[]> {
  return reader.allSql<MembershipRow>(
    `SELECT ${allColumns.memberships} FROM memberships WHERE person_id = ? ORDER BY workspace_id LIMIT ?`,
    [personId, WORKSPACES_OF_PERSON_MAX],
  );
}

/** The oldest ownership of a hub: that of its first owner, unless they have left. */
export function readFirstOwnership(reader: Reader): Promise<MembershipRow | undefined> {
  return reader.firstSql<MembershipRow>(
    `SELECT ${allColumns.memberships} FROM memberships WHERE role = 'owner'
     ORDER BY created_at, workspace_id, person_id LIMIT 1`,
    [],
  );
}

/** The memberships of a workspace, ordered by person id; one more than `limit`. */
export function listMemberships(
  reader: Reader,
  workspaceId: string,
  page: { limit: number; after: string | null },
): Promise<MembershipRow[]> {
  return reader.allSql<MembershipRow>(
    `SELECT ${allColumns.memberships} FROM memberships WHERE workspace_id = ? AND person_id > ?
     ORDER BY person_id LIMIT ?`,
    [workspaceId, page.after ?? '', page.limit + 1],
  );
}

/** The people who own a workspace. */
export async function listOwnerIds(reader: Reader, workspaceId: string): Promise<string[]> {
  const rows = await reader.allSql<Pick<MembershipRow, 'person_id'>>(
    `SELECT person_id FROM memberships WHERE workspace_id = ? AND role = 'owner' LIMIT ?`,
    [workspaceId, OWNERS_MAX],
  );
  return rows.map(({ person_id }) => person_id);
}

/** Those of some persons who are members of a workspace. */
export async function listMemberIds(
  reader: Reader,
  workspaceId: string,
  personIds: readonly string[],
): Promise<string[]> {
  const rows = await reader.allSql<Pick<MembershipRow, 'person_id'>>(
    `SELECT person_id FROM memberships
     WHERE workspace_id = ? AND person_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(personIds)],
  );
  return rows.map(({ person_id }) => person_id);
}

export async function insertMembership(tx: Tx, row: MembershipRow): Promise<void> {
  insertRow(tx, 'memberships', row);
}

/**
 * Counts the owners of a workspace and locks their rows until the transaction ends, by an update
 * that changes nothing: of two owners who demote each other at the same time, only one succeeds.
 */
export async function lockOwners(tx: Tx, workspaceId: string): Promise<number> {
  const owners = { workspace_id: workspaceId, role: 'owner' } as const;
  return updateRows(tx, 'memberships', owners, { role: sql('role') });
}

export async function updateRole(
  tx: Tx,
  workspaceId: string,
  personId: string,
  role: Role,
): Promise<void> {
  await updateRows(tx, 'memberships', { workspace_id: workspaceId, person_id: personId }, { role });
}

export async function deleteMembership(
  tx: Tx,
  workspaceId: string,
  personId: string,
): Promise<void> {
  await deleteRows(tx, 'memberships', { workspace_id: workspaceId, person_id: personId });
}
