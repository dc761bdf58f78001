import { judgeDeparture, judgeRoleChange } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { deleteMembership, lockOwners } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { runHooks } from '../start/hooks.ts';
import { endServiceTokensOf, type MintedServiceToken } from '../tokens/revoke.ts';
import { revokePersonTokens } from '../tokens/store.ts';
import type { MemberDeps } from './deps.ts';
import { requireMember } from './read-members.ts';
import { revokeInvitationsBeyond } from './revoke-invitation.ts';

interface MemberRef {
  workspaceId: string;
  personId: string;
}

interface Choice {
  /** Whether the service tokens that the person minted end, too. */
  revokeServiceTokens: boolean;
}

/**
 * Removes a member from a workspace.
 *
 * @returns the service tokens that they minted.
 * @throws HubError MEMBER_NOT_FOUND, NOT_ALLOWED, LAST_OWNER
 */
export function removeMember(
  deps: MemberDeps,
  principal: Principal,
  ref: MemberRef & Choice,
): Promise<MintedServiceToken[]> {
  const { workspaceId, personId, revokeServiceTokens } = ref;
  return deps.database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'member.change');
    const ownerCount = await lockOwners(tx, workspaceId);
    const { role: from } = await requireMember(tx, workspaceId, personId);
    refuseMembershipChange(judgeRoleChange({ actor: actor.role, from, to: null, ownerCount }));
    const how = { actor: actor.personId, action: 'member.remove', from, revokeServiceTokens };
    return endMembership(deps, tx, ref, how);
  });
}

/**
 * Ends the membership of the person who asks.
 *
 * @returns the service tokens that they minted.
 * @throws HubError LAST_OWNER
 */
export function leaveWorkspace(
  deps: MemberDeps,
  principal: Principal,
  { workspaceId, revokeServiceTokens }: { workspaceId: string } & Choice,
): Promise<MintedServiceToken[]> {
  return deps.database.write(workspaceId, async (tx) => {
    const { personId, role: from } = await requireAct(tx, principal, workspaceId, 'member.leave');
    const ownerCount = await lockOwners(tx, workspaceId);
    refuseMembershipChange(judgeDeparture({ from, to: null, ownerCount }));
    const how = { actor: personId, action: 'member.leave', from, revokeServiceTokens };
    return endMembership(deps, tx, { workspaceId, personId }, how);
  });
}

/**
 * Deletes the membership and revokes the person's tokens. Device tokens of former members are
 * refused anyway, but must not work again if the person is invited again later. Service tokens
 * belong to no person, so they are valid until they are revoked.
 */
async function endMembership(
  deps: MemberDeps,
  tx: Tx,
  ref: MemberRef,
  how: { actor: string; action: string; from: Role } & Choice,
): Promise<MintedServiceToken[]> {
  const { actor, action, from, revokeServiceTokens: revoke } = how;
  const { workspaceId, personId } = ref;
  await deleteMembership(tx, workspaceId, personId);
  await runHooks(deps.hooks.onMemberLeft, deps, tx, { workspaceId, personId });
  const tokensRevoked = await revokePersonTokens(tx, workspaceId, personId);
  const serviceTokens = await endServiceTokensOf(tx, ref, { actor, revoke, cause: action });
  const invitationsRevoked = await revokeInvitationsBeyond(tx, ref, null);
  await appendAudit(tx, {
    workspaceId,
    actor,
    action,
    subject: personId,
    data: { role: from, tokensRevoked, invitationsRevoked, ...countTokens(serviceTokens) },
  });
  tx.afterCommit(() => deps.tokenCache.clear());
  return serviceTokens;
}

/** For the audit log: how many service tokens were revoked and kept; empty if there were none. */
export function countTokens(tokens: readonly MintedServiceToken[]): Record<string, number> {
  if (tokens.length === 0) return {};
  const serviceTokensRevoked = tokens.filter(({ revoked }) => revoked).length;
  return { serviceTokensRevoked, serviceTokensKept: tokens.length - serviceTokensRevoked };
}

/** @throws HubError the refusal of `judgeRoleChange` or `judgeDeparture`, if it is one. */
export function refuseMembershipChange(code: 'NOT_ALLOWED' | 'LAST_OWNER' | null): void {
  if (code === 'NOT_ALLOWED') {
    throw new HubError(code, 'Only owners may appoint, change or remove owners.');
  }
  if (code !== null) throw new HubError(code);
}
