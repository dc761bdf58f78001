import { judgeDeparture, judgeRoleChange } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { deleteMembership, lockOwners } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { HubError } from '../errors.ts';
import type { Principal } from '../principal.ts';
import { revokePersonTokens } from '../tokens/store.ts';
import type { MemberDeps } from './deps.ts';
import { requireMember } from './read-members.ts';
import { revokeInvitationsBeyond } from './revoke-invitation.ts';

interface MemberRef {
  workspaceId: string;
  personId: string;
}

/**
 * Removes a member from a workspace.
 *
 * @throws HubError MEMBER_NOT_FOUND, NOT_ALLOWED, LAST_OWNER
 */
export function removeMember(
  deps: MemberDeps,
  principal: Principal,
  ref: MemberRef,
): Promise<void> {
  const { workspaceId, personId } = ref;
  return deps.database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'member.change');
    const ownerCount = await lockOwners(tx, workspaceId);
    const { role: from } = await requireMember(tx, workspaceId, personId);
    refuseMembershipChange(judgeRoleChange({ actor: actor.role, from, to: null, ownerCount }));
    await endMembership(deps, tx, ref, { actor: actor.personId, action: 'member.remove', from });
  });
}

/**
 * Ends the membership of the person who asks.
 * @throws HubError LAST_OWNER
 */
export function leaveWorkspace(
  deps: MemberDeps,
  principal: Principal,
  workspaceId: string,
): Promise<void> {
  return deps.database.write(workspaceId, async (tx) => {
    const { personId, role: from } = await requireAct(tx, principal, workspaceId, 'member.leave');
    const ownerCount = await lockOwners(tx, workspaceId);
    refuseMembershipChange(judgeDeparture({ from, to: null, ownerCount }));
    const how = { actor: personId, action: 'member.leave', from };
    await endMembership(deps, tx, { workspaceId, personId }, how);
  });
}

/**
 * Deletes the membership and revokes the person's tokens. Tokens of former members are refused
 * anyway, but these must not work again if the person is invited again later.
 */
async function endMembership(
  { tokenCache }: MemberDeps,
  tx: Tx,
  ref: MemberRef,
  { actor, action, from }: { actor: string; action: string; from: Role },
): Promise<void> {
  const { workspaceId, personId } = ref;
  await deleteMembership(tx, workspaceId, personId);
  const tokensRevoked = await revokePersonTokens(tx, workspaceId, personId);
  const invitationsRevoked = await revokeInvitationsBeyond(tx, ref, null);
  await appendAudit(tx, {
    workspaceId,
    actor,
    action,
    subject: personId,
    data: { role: from, tokensRevoked, invitationsRevoked },
  });
  tx.afterCommit(() => tokenCache.clear());
}

/** @throws HubError the refusal of `judgeRoleChange` or `judgeDeparture`, if it is one. */
export function refuseMembershipChange(code: 'NOT_ALLOWED' | 'LAST_OWNER' | null): void {
  if (code === 'NOT_ALLOWED') {
    throw new HubError(code, 'Only owners may appoint, change or remove owners.');
  }
  if (code !== null) throw new HubError(code);
}
