import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, pageOf } from '../http/paging.ts';
import { readSessionState } from '../people/session-state.ts';
import { setSessionCookie } from '../people/sessions.ts';
import { administer } from '../tokens/administer.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { changeRole } from './change-role.ts';
import type { MemberDeps } from './deps.ts';
import { invitationUrl, inviteMember } from './invite.ts';
import {
  presentInvitation,
  presentInvitationCheck,
  presentMember,
  presentMinted,
} from './present.ts';
import { checkInvitation, listInvitations } from './read-invitations.ts';
import { listMembers } from './read-members.ts';
import { leaveWorkspace, removeMember } from './remove.ts';
import { revokeInvitation } from './revoke-invitation.ts';

export function bindMemberRoutes(api: Api, deps: MemberDeps): void {
  bindMembers(api, deps, consoleEndpoints.members);
  bindMembers(api, deps, endpoints.members);
  bindInvitations(api, deps, consoleEndpoints.invitations);
  bindInvitations(api, deps, endpoints.invitations);
  bindConsoleOnly(api, deps);
}

/** @param members the rows of the console, or those of people's machines. */
function bindMembers(
  api: Api,
  deps: MemberDeps,
  members: typeof consoleEndpoints.members | typeof endpoints.members,
): void {
  api.bind(members.list, async ({ workspaceId, limit, cursor }, { principal }) => {
    const after = decodeCursor(cursor, 'person');
    const rows = await listMembers(deps, principal, workspaceId, { limit, after });
    const page = pageOf(rows, limit, (row) => row.person_id);
    const nowMs = deps.clock.nowMs();
    const shown = page.items.map((row) => presentMember(row, nowMs));
    return { members: shown, nextCursor: page.nextCursor };
  });
  api.bind(members.changeRole, async (input, { principal }) => {
    const change = () => changeRole(deps, principal, input);
    const { member, serviceTokens } = await administer(principal, change);
    const shown = presentMember(member, deps.clock.nowMs());
    return { member: shown, serviceTokens: presentMinted(serviceTokens) };
  });
  api.bind(members.remove, async (input, { principal }) => {
    const remove = () => removeMember(deps, principal, input);
    const serviceTokens = await administer(principal, remove);
    return { removed: true as const, serviceTokens: presentMinted(serviceTokens) };
  });
}

/** @param invitations the rows of the console, or those of people's machines. */
function bindInvitations(
  api: Api,
  deps: MemberDeps,
  invitations: typeof consoleEndpoints.invitations | typeof endpoints.invitations,
): void {
  api.bind(invitations.create, async (input, { principal }) => {
    const invite = () => inviteMember(deps, principal, input);
    const { invitation, linkToken } = await administer(principal, invite);
    return {
      invitation: presentInvitation(invitation),
      invitationUrl: invitationUrl(deps.baseUrl, linkToken),
    };
  });
  api.bind(invitations.list, async (input, { principal }) => {
    const before = decodeCursor(input.cursor, 'invitation');
    const rows = await listInvitations(deps, principal, input, before);
    const page = pageOf(rows, input.limit, (row) => row.invitation_id);
    return { invitations: page.items.map(presentInvitation), nextCursor: page.nextCursor };
  });
  api.bind(invitations.revoke, async (input, { principal }) => {
    await administer(principal, () => revokeInvitation(deps, principal, input));
    return { revoked: true as const };
  });
}

function bindConsoleOnly(api: Api, deps: MemberDeps): void {
  const { members, invitations } = consoleEndpoints;
  api.bind(members.leave, async (input, { principal }) => {
    const serviceTokens = await leaveWorkspace(deps, principal, input);
    return { left: true as const, serviceTokens: presentMinted(serviceTokens) };
  });
  api.bind(invitations.check, async ({ linkToken }, { cookies }) =>
    presentInvitationCheck(await checkInvitation(deps, linkToken, cookies)),
  );
  api.bind(invitations.accept, async (input, context) => {
    const { person, workspaceId, secret } = await acceptInvitation(deps, input, context);
    if (secret !== null) setSessionCookie(deps, context, secret);
    return { ...(await readSessionState(deps, person)), workspaceId };
  });
}
