import type { consoleEndpoints, Invitation, Member, ResponseOf } from '@signalbox/contract';

import { timestampOf } from '../clock.ts';
import type { InvitationWithInviter } from './read-invitations.ts';
import type { MemberRow } from './read-members.ts';

export function presentMember(row: MemberRow): Member {
  return {
    personId: row.person_id,
    email: row.email,
    name: row.name,
    role: row.role,
    joinedAt: timestampOf(row.created_at),
  };
}

export function presentInvitation(row: InvitationWithInviter): Invitation {
  return {
    invitationId: row.invitation_id,
    email: row.email,
    role: row.role,
    invitedBy: row.inviter_name ?? row.created_by,
    createdAt: timestampOf(row.created_at),
    expiresAt: timestampOf(row.expires_at),
  };
}

/** What the page of an invitation link shows to the holder of the link. */
export function presentInvitationCheck(
  found: {
    invitation: InvitationWithInviter;
    workspaceName: string;
    accountExists: boolean;
  } | null,
): Omit<ResponseOf<typeof consoleEndpoints.invitations.check>, 'ok'> {
  if (found === null) return { invitation: null };
  const { email, role, invitedBy, expiresAt } = presentInvitation(found.invitation);
  const { workspaceName, accountExists } = found;
  return { invitation: { workspaceName, email, role, invitedBy, expiresAt, accountExists } };
}
