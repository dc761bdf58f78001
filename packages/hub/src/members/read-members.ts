import { requireAct } from '../access/require-act.ts';
import { listMemberships, type MembershipRow, readMembership } from '../access/store.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import { type MemberPerson, readMemberPeople } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';

/** A membership and its person, with the end of an absence that may be over. */
export type MemberRow = Omit<MembershipRow, 'workspace_id'> & MemberPerson;

/**
 * The members of a workspace, ordered by person id; one more than `limit`.
 * @throws HubError NOT_ALLOWED
 */
export async function listMembers(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  principal: Principal,
  workspaceId: string,
  page: { limit: number; after: string | null },
): Promise<MemberRow[]> {
  await requireAct(reader, principal, workspaceId, 'member.list');
  return addPeople(reader, await listMemberships(reader, workspaceId, page));
}

/** @throws HubError MEMBER_NOT_FOUND */
export async function requireMember(
  reader: Reader,
  workspaceId: string,
  personId: string,
): Promise<MemberRow> {
  const membership = await readMembership(reader, workspaceId, personId);
  const [member] = membership === undefined ? [] : await addPeople(reader, [membership]);
  if (member === undefined) throw new HubError('MEMBER_NOT_FOUND');
  return member;
}

async function addPeople(
  reader: Reader,
  memberships: readonly MembershipRow[],
): Promise<MemberRow[]> {
  const people = await readMemberPeople(
    reader,
    memberships.map((membership) => membership.person_id),
  );
  return memberships.map(({ person_id, role, created_at }) => {
    const person = people.get(person_id);
    assert(person !== undefined, 'a membership belongs to a person');
    return { ...person, role, created_at };
  });
}
