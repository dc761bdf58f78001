import { judgeRoleChange } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { lockOwners, updateRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import type { Role } from '../db/schema/tables.ts';
import type { Principal } from '../principal.ts';
import type { MemberDeps } from './deps.ts';
import { type MemberRow, requireMember } from './read-members.ts';
import { refuseMembershipChange } from './remove.ts';
import { revokeInvitationsBeyond } from './revoke-invitation.ts';

/**
 * Changes a member's role. Repeating it changes nothing.
 *
 * @throws HubError MEMBER_NOT_FOUND, NOT_ALLOWED, LAST_OWNER
 */
export function changeRole(
  { database, tokenCache }: MemberDeps,
  principal: Principal,
  { workspaceId, personId, role }: { workspaceId: string; personId: string; role: Role },
): Promise<MemberRow> {
  return database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'member.change');
    const ownerCount = await lockOwners(tx, workspaceId);
    const member = await requireMember(tx, workspaceId, personId);
    const { role: from } = member;
    refuseMembershipChange(judgeRoleChange({ actor: actor.role, from, to: role, ownerCount }));
    if (from === role) return member;
    await updateRole(tx, workspaceId, personId, role);
    const invitationsRevoked = await revokeInvitationsBeyond(tx, { workspaceId, personId }, role);
    await appendAudit(tx, {
      workspaceId,
      actor: actor.personId,
      action: 'member.change-role',
      subject: personId,
      data: { from, to: role, invitationsRevoked },
    });
    tx.afterCommit(() => tokenCache.clear());
    return { ...member, role };
  });
}
