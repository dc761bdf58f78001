import type { consoleEndpoints, InvitationLinkStatus, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { assert } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import type { SessionDeps } from '../people/deps.ts';
import { type Cookies, findSession } from '../people/sessions.ts';
import { readPerson, readPersonNames } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { type InvitationRow, listOpenInvitations, readInvitationByLink } from './store.ts';

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

export interface CheckedInvitation {
  status: InvitationLinkStatus;
  /** The invitation; null unless the link is open. */
  open: {
    invitation: InvitationWithInviter;
    workspaceName: string;
    accountExists: boolean;
  } | null;
}

/**
 * Says whether an invitation link can be used, and what it is for. Does not use it up. Whether the
 * address has an account is told only to a person who is signed in with it: anyone may invite an
 * address to find out.
 */
export async function checkInvitation(
  deps: SessionDeps,
  linkToken: string,
  cookies: Cookies,
): Promise<CheckedInvitation> {
  const {
    database: { reader },
    clock,
  } = deps;
  const found = await readInvitationByLink(reader, linkToken);
  if (found === undefined) return { status: 'unknown', open: null };
  const status = judgeInvitation(found, clock.nowMs());
  if (status !== 'open') return { status, open: null };
  const workspace = await readWorkspace(reader, found.workspace_id);
  assert(workspace !== undefined, 'an invitation belongs to a workspace');
  const session = await findSession(deps, cookies);
  const person = session && (await readPerson(reader, session.person_id));
  const open = {
    invitation: await addInviter(reader, found),
    workspaceName: workspace.name,
    accountExists: person?.email === found.email,
  };
  return { status, open };
}

function judgeInvitation(
  { accepted_at, revoked_at, expires_at }: InvitationRow,
  nowMs: number,
): Exclude<InvitationLinkStatus, 'unknown'> {
  if (accepted_at !== null) return 'used';
  if (revoked_at !== null) return 'revoked';
  return expires_at > nowMs ? 'open' : 'expired';
}

/** Adds the inviter's name. Reads one person; lists use `readPersonNames`. */
export async function addInviter(
  reader: Reader,
  invitation: InvitationRow,
): Promise<InvitationWithInviter> {
  const inviter = await readPerson(reader, invitation.created_by);
  return { ...invitation, inviter_name: inviter?.name ?? null };
}
