import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import { readPerson, readPersonByEmail, readPersonNames } from '../people/store.ts';
import type { Principal } from '../principal.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { type InvitationRow, listOpenInvitations, readOpenInvitationByLink } from './store.ts';

type ListInput = RequestInput<typeof consoleEndpoints.invitations.list.request>;

/** An invitation with the name of the person who created it; null if the operator did. */
export type InvitationWithInviter = InvitationRow & { inviter_name: string | null };

/**
 * The open invitations of a workspace, newest first; one more than `limit`.
 * @throws HubError NOT_ALLOWED
 */
export async function listInvitations(
  { database: { reader }, clock }: Pick<HubDeps, 'database' | 'clock'>,
  principal: Principal,
  { workspaceId, limit }: ListInput,
  before: string | null,
): Promise<InvitationWithInviter[]> {
  await requireAct(reader, principal, workspaceId, 'invitation.manage');
  const page = { limit, before };
  const invitations = await listOpenInvitations(reader, workspaceId, clock.nowMs(), page);
  const inviters = await readPersonNames(
    reader,
    invitations.map((invitation) => invitation.created_by),
  );
  return invitations.map((invitation) => ({
    ...invitation,
    inviter_name: inviters.get(invitation.created_by)?.name ?? null,
  }));
}

/** The open invitation of a link, for the page behind it; null if the link is not valid. */
export async function checkInvitation(
  { database: { reader }, clock }: Pick<HubDeps, 'database' | 'clock'>,
  linkToken: string,
): Promise<{
  invitation: InvitationWithInviter;
  workspaceName: string;
  accountExists: boolean;
} | null> {
  const found = await readOpenInvitationByLink(reader, linkToken, clock.nowMs());
  if (found === undefined) return null;
  const workspace = await readWorkspace(reader, found.workspace_id);
  if (workspace === undefined) return null;
  const person = await readPersonByEmail(reader, found.email);
  return {
    invitation: await addInviter(reader, found),
    workspaceName: workspace.name,
    accountExists: person !== undefined,
  };
}

/** Adds the inviter's name. Reads one person; lists use `readPersonNames`. */
export async function addInviter(
  reader: Reader,
  invitation: InvitationRow,
): Promise<InvitationWithInviter> {
  const inviter = await readPerson(reader, invitation.created_by);
  return { ...invitation, inviter_name: inviter?.name ?? null };
}
