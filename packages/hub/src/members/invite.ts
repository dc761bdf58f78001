import { type consoleEndpoints, INVITATION_MS, type RequestInput } from '@signalbox/contract';
import { mayHandle } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { readRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import type { Role } from '../db/schema/tables.ts';
import { drawLinkToken, hashLinkToken } from '../people/link-token.ts';
import { foldEmail, listPeopleByEmail, type PersonRow } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { addInviter, type InvitationWithInviter } from './read-invitations.ts';
import { insertInvitation } from './store.ts';

type CreateInput = RequestInput<typeof consoleEndpoints.invitations.create.request>;

export interface CreatedInvitation {
  invitation: InvitationWithInviter;
  /** Shown once; the hub stores only its hash. */
  linkToken: string;
}

/**
 * Invites a person to a workspace, on behalf of a member at the console.
 *
 * @throws HubError NOT_ALLOWED, ALREADY_MEMBER
 */
export function inviteMember(
  deps: Pick<HubDeps, 'database' | 'ids'>,
  principal: Principal,
  { workspaceId, email, role }: CreateInput,
): Promise<CreatedInvitation> {
  return deps.database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'invitation.manage');
    refuseRoleBeyond(actor.role, role);
    return createInvitation(deps, tx, { workspaceId, email, role, createdBy: actor.personId });
  });
}

/**
 * Creates an invitation. Its link replaces the open one for the same address.
 *
 * @param draft.createdBy a person's id, or `operator`.
 * @throws HubError ALREADY_MEMBER
 */
export async function createInvitation(
  { ids }: Pick<HubDeps, 'ids'>,
  tx: Tx,
  draft: { workspaceId: string; email: string; role: Role; createdBy: string },
): Promise<CreatedInvitation> {
  const { workspaceId, role, createdBy } = draft;
  const email = foldEmail(draft.email);
  await refuseMember(tx, workspaceId, await listPeopleByEmail(tx, email));
  // Those that have expired, too.
  const unused = { workspace_id: workspaceId, email, accepted_at: null, revoked_at: null };
  const replaced = await updateRows(tx, 'invitations', unused, { revoked_at: tx.nowMs });
  const linkToken = drawLinkToken();
  const invitation = await insertInvitation(tx, {
    workspace_id: workspaceId,
    invitation_id: ids('invitation'),
    link_hash: hashLinkToken(linkToken),
    email,
    role,
    created_by: createdBy,
    created_at: tx.nowMs,
    expires_at: tx.nowMs + INVITATION_MS,
  });
  await appendAudit(tx, {
    workspaceId,
    actor: createdBy,
    action: 'invitation.create',
    subject: invitation.invitation_id,
    data: { email, role, replaced },
  });
  return { invitation: await addInviter(tx, invitation), linkToken };
}

/** @throws HubError ALREADY_MEMBER if an account of the address is a member. */
export async function refuseMember(
  tx: Tx,
  workspaceId: string,
  accounts: readonly PersonRow[],
): Promise<void> {
  for (const { person_id } of accounts) {
    if ((await readRole(tx, person_id, workspaceId)) !== null) throw new HubError('ALREADY_MEMBER');
  }
}

/** The URL to send. The token is in the fragment, which browsers do not send to servers. */
export function invitationUrl(baseUrl: string, linkToken: string): string {
  return new URL(`/invitation#token=${linkToken}`, baseUrl).href;
}

/** @throws HubError NOT_ALLOWED if the actor may not give this role. */
export function refuseRoleBeyond(actor: Role, role: Role): void {
  if (mayHandle(actor, role)) return;
  throw new HubError('NOT_ALLOWED', 'Only owners may invite owners or revoke such an invitation.');
}
