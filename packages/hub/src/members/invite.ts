import {
  type consoleEndpoints,
  type IdSource,
  INVITATION_MS,
  type RequestInput,
} from '@signalbox/contract';
import { mayHandle } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import type { Database, Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { HubError } from '../errors.ts';
import { foldEmail, type PeopleDeps } from '../people/sessions.ts';
import { readPersonByEmail, readRole } from '../people/store.ts';
import type { Principal } from '../principal.ts';
import { readWorkspace } from '../workspaces/store.ts';
import {
  drawLinkToken,
  hashLinkToken,
  type InvitationWithInviter,
  insertInvitation,
  listOpenInvitations,
  markInvitationRevoked,
  readOpenInvitation,
  readOpenInvitationByLink,
  revokeInvitationsOf,
} from './store.ts';

type CreateInput = RequestInput<typeof consoleEndpoints.invitations.create.request>;
type ListInput = RequestInput<typeof consoleEndpoints.invitations.list.request>;
type RevokeInput = RequestInput<typeof consoleEndpoints.invitations.revoke.request>;

export interface MadeInvitation {
  invitation: InvitationWithInviter;
  /** Shown once; only its hash is kept. */
  linkToken: string;
}

/** The address to send. The token stands in the fragment, which browsers send to nobody. */
export function invitationUrl(baseUrl: string, linkToken: string): string {
  return new URL(`/invitation#token=${linkToken}`, baseUrl).href;
}

/**
 * Invites somebody on behalf of a person at the console.
 *
 * @throws HubError NOT_ALLOWED, ALREADY_MEMBER
 */
export function inviteMember(
  deps: Pick<PeopleDeps, 'database' | 'ids'>,
  principal: Principal,
  { workspaceId, email, role }: CreateInput,
): Promise<MadeInvitation> {
  return deps.database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'invitation.manage');
    refuseBeyond(actor.role, role);
    return createInvitation(deps, tx, { workspaceId, email, role, createdBy: actor.personId });
  });
}

/**
 * Makes an invitation, whose link replaces the open one of the same address.
 *
 * @param draft.createdBy a person's id, or `operator`.
 * @throws HubError ALREADY_MEMBER
 */
export async function createInvitation(
  { database, ids }: { database: Database; ids: IdSource },
  tx: Tx,
  draft: { workspaceId: string; email: string; role: Role; createdBy: string },
): Promise<MadeInvitation> {
  const { workspaceId, role, createdBy } = draft;
  const email = foldEmail(draft.email);
  const person = await readPersonByEmail(tx, email);
  if (person !== undefined && (await readRole(tx, person.person_id, workspaceId)) !== null) {
    throw new HubError('ALREADY_MEMBER');
  }
  const replaced = await revokeInvitationsOf(tx, workspaceId, email);
  const linkToken = drawLinkToken();
  const invitationId = ids('invitation');
  await insertInvitation(database, tx, {
    workspace_id: workspaceId,
    invitation_id: invitationId,
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
    subject: invitationId,
    data: { email, role, replaced },
  });
  return { invitation: await requireOpen(tx, workspaceId, invitationId), linkToken };
}

/**
 * The open invitations of a workspace, newest first; one more than `limit`.
 * @throws HubError NOT_ALLOWED
 */
export async function listInvitations(
  { database, clock }: Pick<PeopleDeps, 'database' | 'clock'>,
  principal: Principal,
  { workspaceId, limit }: ListInput,
  before: string | null,
): Promise<InvitationWithInviter[]> {
  const { reader } = database;
  await requireAct(reader, principal, workspaceId, 'invitation.manage');
  return listOpenInvitations(reader, workspaceId, clock.nowMs(), { limit, before });
}

/** @throws HubError INVITATION_NOT_FOUND, NOT_ALLOWED */
export function revokeInvitation(
  { database }: Pick<PeopleDeps, 'database'>,
  principal: Principal,
  { workspaceId, invitationId }: RevokeInput,
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    const actor = await requireAct(tx, principal, workspaceId, 'invitation.manage');
    const { email, role } = await requireOpen(tx, workspaceId, invitationId);
    refuseBeyond(actor.role, role);
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

/** What a link is for; null when it cannot be used (any more). Uses nothing up. */
export async function checkInvitation(
  { database, clock }: Pick<PeopleDeps, 'database' | 'clock'>,
  linkToken: string,
): Promise<{
  invitation: InvitationWithInviter;
  workspaceName: string;
  accountExists: boolean;
} | null> {
  const { reader } = database;
  const invitation = await readOpenInvitationByLink(reader, linkToken, clock.nowMs());
  if (invitation === undefined) return null;
  const workspace = await readWorkspace(reader, invitation.workspace_id);
  if (workspace === undefined) return null;
  const person = await readPersonByEmail(reader, invitation.email);
  return { invitation, workspaceName: workspace.name, accountExists: person !== undefined };
}

async function requireOpen(
  tx: Tx,
  workspaceId: string,
  invitationId: string,
): Promise<InvitationWithInviter> {
  const invitation = await readOpenInvitation(tx, workspaceId, invitationId, tx.nowMs);
  if (invitation === undefined) throw new HubError('INVITATION_NOT_FOUND');
  return invitation;
}

function refuseBeyond(actor: Role, role: Role): void {
  if (mayHandle(actor, role)) return;
  throw new HubError('NOT_ALLOWED', 'Only owners invite owners, or take such an invitation back.');
}
