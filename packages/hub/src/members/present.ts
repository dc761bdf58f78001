import {
  type AnswerOf,
  type consoleEndpoints,
  type Invitation,
  type Member,
  SERVICE_TOKENS_LISTED_MAX,
} from '@signalbox/contract';

import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import type { MintedServiceToken } from '../tokens/revoke.ts';
import type { CheckedInvitation, InvitationWithInviter } from './read-invitations.ts';
import type { MemberRow } from './read-members.ts';

export function presentMember(row: MemberRow, nowMs: number): Member {
  const isAbsent = row.absent_until !== null && row.absent_until > nowMs;
  return {
    personId: row.person_id,
    email: row.email,
    name: row.name,
    role: row.role,
    joinedAt: timestampOf(row.created_at),
    absentUntil: isAbsent ? nullableTimestampOf(row.absent_until) : null,
  };
}

/** The service tokens of a member; the answer has room for the first of them. */
export function presentMinted(tokens: readonly MintedServiceToken[]): MintedServiceToken[] {
  return tokens.slice(0, SERVICE_TOKENS_LISTED_MAX);
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

/** The state of an invitation link, as its page shows it to the holder of the link. */
export function presentInvitationCheck({
  status,
  open,
}: CheckedInvitation): AnswerOf<typeof consoleEndpoints.invitations.check> {
  if (open === null) return { status, invitation: null };
  const { email, role, invitedBy, expiresAt } = presentInvitation(open.invitation);
  const { workspaceName, accountExists } = open;
  return {
    status,
    invitation: { workspaceName, email, role, invitedBy, expiresAt, accountExists },
  };
}
