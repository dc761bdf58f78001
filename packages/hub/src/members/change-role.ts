import { judgeDeparture, judgeRoleChange, mayAct, mayHandle } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import {
  deleteMembership,
  lockOwners,
  type MemberRow,
  readMember,
  updateRole,
} from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { HubError } from '../errors.ts';
import type { PeopleDeps } from '../people/sessions.ts';
import type { Principal } from '../principal.ts';
import type { TokenCache } from '../tokens/cache.ts';
import { revokePersonTokens } from '../tokens/store.ts';
import { listOpenInvitationsBy, markInvitationRevoked } from './store.ts';

export interface MemberDeps extends PeopleDeps {
  tokenCache: TokenCache;
}

interface MemberRef {
  workspaceId: string;
  personId: string;
}

/**
 * Gives a member another role. Repeating it changes nothing.
 *
 * @throws HubError MEMBER_NOT_FOUND, NOT_ALLOWED, LAST_OWNER
 */
export function changeRole(
  { database, tokenCache }: MemberDeps,
  principal: Principal,
  { workspaceId, personId, role }: MemberRef & { role: Role },
): Promise<MemberRow> {
  return database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'member.change');
    const ownerCount = await lockOwners(tx, workspaceId);
    const member = await requireMember(tx, workspaceId, personId);
    const { role: from } = member;
    refuse(judgeRoleChange({ actor: actor.role, from, to: role, ownerCount }));
    if (from === role) return member;
    await updateRole(tx, workspaceId, personId, role);
    const invitationsRevoked = await endInvitationsBeyond(tx, { workspaceId, personId }, role);
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

/**
 * Takes a member out of a workspace.
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
    refuse(judgeRoleChange({ actor: actor.role, from, to: null, ownerCount }));
    await endMembership(deps, tx, ref, { actor: actor.personId, action: 'member.remove', from });
  });
}

/** @throws HubError LAST_OWNER */
export function leaveWorkspace(
  deps: MemberDeps,
  principal: Principal,
  workspaceId: string,
): Promise<void> {
  return deps.database.write(workspaceId, async (tx) => {
    const { personId, role: from } = await requireAct(tx, principal, workspaceId, 'member.leave');
    const ownerCount = await lockOwners(tx, workspaceId);
    refuse(judgeDeparture({ from, to: null, ownerCount }));
    const how = { actor: personId, action: 'member.leave', from };
    await endMembership(deps, tx, { workspaceId, personId }, how);
  });
}

/** Tokens are revoked, not only judged: who is invited again logs her machines in again. */
async function endMembership(
  { tokenCache }: MemberDeps,
  tx: Tx,
  ref: MemberRef,
  { actor, action, from }: { actor: string; action: string; from: Role },
): Promise<void> {
  const { workspaceId, personId } = ref;
  await deleteMembership(tx, workspaceId, personId);
  const tokensRevoked = await revokePersonTokens(tx, workspaceId, personId);
  const invitationsRevoked = await endInvitationsBeyond(tx, ref, null);
  await appendAudit(tx, {
    workspaceId,
    actor,
    action,
    subject: personId,
    data: { role: from, tokensRevoked, invitationsRevoked },
  });
  tx.afterCommit(() => tokenCache.clear());
}

/** Ends the open links of somebody who could not make them any more: nobody keeps a back door. */
async function endInvitationsBeyond(
  tx: Tx,
  { workspaceId, personId }: MemberRef,
  role: Role | null,
): Promise<number> {
  const open = await listOpenInvitationsBy(tx, workspaceId, personId, tx.nowMs);
  const beyond = open.filter(
    (invitation) =>
      role === null || !mayAct(role, 'invitation.manage') || !mayHandle(role, invitation.role),
  );
  for (const { invitation_id } of beyond) {
    await markInvitationRevoked(tx, workspaceId, invitation_id);
  }
  return beyond.length;
}

async function requireMember(tx: Tx, workspaceId: string, personId: string): Promise<MemberRow> {
  const member = await readMember(tx, workspaceId, personId);
  if (member === undefined) throw new HubError('MEMBER_NOT_FOUND');
  return member;
}

function refuse(code: 'NOT_ALLOWED' | 'LAST_OWNER' | null): void {
  if (code === 'NOT_ALLOWED') {
    throw new HubError(code, 'Only owners make owners, and change or remove them.');
  }
  if (code !== null) throw new HubError(code);
}
