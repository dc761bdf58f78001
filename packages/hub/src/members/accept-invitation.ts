import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { insertMembership, readRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import { assert, HubError, invalidField } from '../errors.ts';
import type { PeopleDeps } from '../people/deps.ts';
import { hashNewPassword } from '../people/passwords.ts';
import { provePassword } from '../people/prove-password.ts';
import { beginSession, findSession, type Origin } from '../people/sessions.ts';
import {
  insertPerson,
  markSessionRevoked,
  type PersonRow,
  readPerson,
  readPersonByEmail,
} from '../people/store.ts';
import type { RequestContext } from '../principal.ts';
import { type InvitationRow, markInvitationAccepted, readOpenInvitationByLink } from './store.ts';

type AcceptInput = RequestInput<typeof consoleEndpoints.invitations.accept.request>;
type Request = Origin & Pick<RequestContext, 'cookies'>;
type Session = Awaited<ReturnType<typeof findSession>>;

/** Who accepts: a signed-in person, one who has proved their password, or one without account. */
type Invitee =
  | { kind: 'signed-in'; personId: string }
  | { kind: 'known'; personId: string }
  | { kind: 'new'; name: string; passwordHash: string };

export interface Acceptance {
  person: PersonRow;
  workspaceId: string;
  /** For the cookie of a new session; null if the session of the request remains. */
  secret: string | null;
}

/**
 * Uses up an invitation. Creates account, membership and session and ends the link in one
 * transaction, so that of several concurrent requests exactly one succeeds.
 *
 * @throws HubError INVITATION_LINK_INVALID, ALREADY_MEMBER, SESSION_REQUIRED, SIGN_IN_FAILED,
 *   RATE_LIMITED, EMAIL_TAKEN, INVALID_REQUEST
 */
export async function acceptInvitation(
  deps: PeopleDeps,
  input: AcceptInput,
  origin: Request,
): Promise<Acceptance> {
  const { database, clock } = deps;
  // Check before hashing, so that anonymous callers cannot make the hub hash passwords.
  const found = await readOpenInvitationByLink(database.reader, input.linkToken, clock.nowMs());
  if (found === undefined) throw new HubError('INVITATION_LINK_INVALID');
  const session = await findSession(deps, origin.cookies);
  const invitee = await identifyInvitee(deps, input, { invitation: found, session, origin });
  return database.write(null, async (tx) => {
    const person = await admitPerson(deps, tx, found, invitee);
    const secret =
      invitee.kind === 'signed-in' ? null : await startSession(deps, tx, person, session, origin);
    await appendAudit(tx, {
      workspaceId: found.workspace_id,
      actor: person.person_id,
      action: 'invitation.accept',
      subject: found.invitation_id,
      data: { role: found.role, invitedBy: found.created_by, address: origin.address },
    });
    return { person, workspaceId: found.workspace_id, secret };
  });
}

async function identifyInvitee(
  deps: PeopleDeps,
  { name, password }: AcceptInput,
  { invitation, session, origin }: { invitation: InvitationRow; session: Session; origin: Request },
): Promise<Invitee> {
  const { email } = invitation;
  const person = await readPersonByEmail(deps.database.reader, email);
  if (person === undefined) {
    if (name === undefined) throw invalidField('/name', 'is required for a new account');
    if (password === undefined) throw invalidField('/password', 'is required for a new account');
    const passwordHash = await hashNewPassword(deps, password, { person: { email, name } });
    return { kind: 'new', name, passwordHash };
  }
  const { person_id: personId } = person;
  if (session?.person_id === personId) return { kind: 'signed-in', personId };
  if (password === undefined) {
    throw new HubError('SESSION_REQUIRED', `Sign in as ${email} to accept this invitation.`);
  }
  await provePassword(deps, personId, origin.address, password);
  return { kind: 'known', personId };
}

/** @throws HubError INVITATION_LINK_INVALID, ALREADY_MEMBER, EMAIL_TAKEN */
async function admitPerson(
  { database, ids }: PeopleDeps,
  tx: Tx,
  invitation: InvitationRow,
  invitee: Invitee,
): Promise<PersonRow> {
  const { workspace_id, email, role } = invitation;
  const personId = invitee.kind === 'new' ? ids('person') : invitee.personId;
  if (!(await markInvitationAccepted(tx, invitation, personId))) {
    throw new HubError('INVITATION_LINK_INVALID');
  }
  if ((await readRole(tx, personId, workspace_id)) !== null) throw new HubError('ALREADY_MEMBER');
  if (invitee.kind === 'new') {
    // The person may have accepted an invitation to another workspace meanwhile.
    if ((await readPersonByEmail(tx, email)) !== undefined) throw new HubError('EMAIL_TAKEN');
    await insertPerson(database, tx, {
      person_id: personId,
      email,
      name: invitee.name,
      password_hash: invitee.passwordHash,
      created_at: tx.nowMs,
    });
  }
  await insertMembership(database, tx, {
    workspace_id,
    person_id: personId,
    role,
    created_at: tx.nowMs,
  });
  const person = await readPerson(tx, personId);
  assert(person !== undefined, 'the person exists now');
  return person;
}

async function startSession(
  deps: PeopleDeps,
  tx: Tx,
  person: PersonRow,
  previous: Session,
  origin: Request,
): Promise<string> {
  if (previous !== null) await markSessionRevoked(tx, previous.person_id, previous.session_id);
  const { secret } = await beginSession(deps, tx, person.person_id, origin);
  return secret;
}
