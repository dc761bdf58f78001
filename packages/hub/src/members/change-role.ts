import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { judgeRoleChange, mayAct } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { lockOwners, updateRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import type { Principal } from '../base/principal.ts';
import { endServiceTokensOf, type MintedServiceToken } from '../tokens/revoke.ts';
import type { MemberDeps } from './deps.ts';
import { type MemberRow, requireMember } from './read-members.ts';
import { countTokens, refuseMembershipChange } from './remove.ts';
import { revokeInvitationsBeyond } from './revoke-invitation.ts';

type ChangeInput = RequestInput<typeof consoleEndpoints.members.changeRole.request>;

/**
 * Changes a member's role. Repeating it changes nothing.
 *
 * @returns the member, and the service tokens that they minted, if they may mint none any more.
 * @throws HubError MEMBER_NOT_FOUND, NOT_ALLOWED, LAST_OWNER
 */
export function changeRole(
  { database, tokenCache }: MemberDeps,
  principal: Principal,
  { workspaceId, personId, role, revokeServiceTokens: revoke }: ChangeInput,
): Promise<{ member: MemberRow; serviceTokens: MintedServiceToken[] }> {
  return database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'member.change');
    const ownerCount = await lockOwners(tx, workspaceId);
    const member = await requireMember(tx, workspaceId, personId);
    const { role: from } = member;
    refuseMembershipChange(judgeRoleChange({ actor: actor.role, from, to: role, ownerCount }));
    if (from === role) return { member, serviceTokens: [] };
    await updateRole(tx, workspaceId, personId, role);
    const invitationsRevoked = await revokeInvitationsBeyond(tx, { workspaceId, personId }, role);
    const how = { actor: actor.personId, revoke, cause: 'member.change-role' };
    const serviceTokens = mayAct(role, 'service-token.manage')
      ? []
      : await endServiceTokensOf(tx, { workspaceId, personId }, how);
    await appendAudit(tx, {
      workspaceId,
      actor: actor.personId,
      action: 'member.change-role',
      subject: personId,
      data: { from, to: role, invitationsRevoked, ...countTokens(serviceTokens) },
    });
    tx.afterCommit(() => tokenCache.clear());
    return { member: { ...member, role }, serviceTokens };
  });
}
