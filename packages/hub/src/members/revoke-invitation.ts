import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { mayAct, mayHandle } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { refuseRoleBeyond } from './invite.ts';
import { listOpenInvitationsBy, markInvitationRevoked, readOpenInvitation } from './store.ts';

type RevokeInput = RequestInput<typeof consoleEndpoints.invitations.revoke.request>;

/** @throws HubError INVITATION_NOT_FOUND, NOT_ALLOWED */
export function revokeInvitation(
  { database }: Pick<HubDeps, 'database'>,
  principal: Principal,
  { workspaceId, invitationId }: RevokeInput,
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'invitation.manage');
    const invitation = await readOpenInvitation(tx, workspaceId, invitationId, tx.nowMs);
    if (invitation === undefined) throw new HubError('INVITATION_NOT_FOUND');
    const { email, role } = invitation;
    refuseRoleBeyond(actor.role, role);
    await markInvitationRevoked(tx, workspaceId, invitationId);
    await appendAudit(tx, {
      workspaceId,
      actor: actor.personId,
      action: 'invitation.revoke',
      subject: invitationId,
      data: { email, role },
    });
  });
}

/**
 * Revokes the open invitations of a person that they could not create with their new role, so that
 * a removed person keeps no access through a link they made before.
 *
 * @param role null if the person left the workspace.
 * @returns how many were revoked.
 */
export async function revokeInvitationsBeyond(
  tx: Tx,
  { workspaceId, personId }: { workspaceId: string; personId: string },
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

/**
 * Revokes the open invitations that a person created, in all workspaces: somebody else who used
 * the account could have created one to come back. A function of `onPasswordReset`.
 */
export async function revokeInvitationsOfPerson(
  _deps: HookDeps,
  tx: Tx,
  { personId }: { personId: string },
): Promise<void> {
  for (const invitation of await listOpenInvitationsBy(tx, null, personId, tx.nowMs)) {
    const { workspace_id: workspaceId, invitation_id: invitationId, email, role } = invitation;
    await markInvitationRevoked(tx, workspaceId, invitationId);
    await appendAudit(tx, {
      workspaceId,
      actor: personId,
      action: 'invitation.revoke',
      subject: invitationId,
      data: { email, role, cause: 'password-reset' },
    });
  }
}
