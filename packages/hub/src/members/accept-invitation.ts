import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { insertMembership } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { assert, HubError, invalidField } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { PeopleDeps } from '../people/deps.ts';
import { findAccount } from '../people/find-account.ts';
import { hashNewPassword } from '../people/passwords.ts';
import { beginSession, findSession, type Origin } from '../people/sessions.ts';
import {
  ACCOUNTS_OF_ADDRESS_MAX,
  insertPerson,
  listPeopleByEmail,
  type PersonRow,
  readPerson,
} from '../people/store.ts';
import { refuseMember } from './invite.ts';
import { type InvitationRow, markInvitationAccepted, readOpenInvitationByLink } from './store.ts';

type AcceptInput = RequestInput<typeof consoleEndpoints.invitations.accept.request>;
type Request = Origin & Pick<RequestContext, 'cookies'>;
type Session = Awaited<ReturnType<typeof findSession>>;

/** Who accepts: a signed-in person, one who has proved their password, or one without account. */
type Invitee =
  | { kind: 'signed-in'; personId: string }
  | { kind: 'known'; personId: string }
  | { kind: 'new'; name: string; passwordHash: string; accounts: readonly PersonRow[] };

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
  const { database, clock, ids } = deps;
  // Check before hashing, so that anonymous callers cannot make the hub hash passwords.
  const found = await readOpenInvitationByLink(database.reader, input.linkToken, clock.nowMs());
  if (found === undefined) throw new HubError('INVITATION_LINK_INVALID');
  const session = await findSession(deps, origin.cookies);
  const invitee = await identifyInvitee(deps, input, { invitation: found, session, origin });
  // The address too: invitations to other workspaces may create accounts with it.
  const personId = invitee.kind === 'new' ? ids('person') : invitee.personId;
  return database.write([found.workspace_id, found.email, personId], async (tx) => {
    const person = await admitPerson(tx, found, personId, invitee);
    const begun =
      invitee.kind === 'signed-in'
        ? null
        : await beginSession(deps, tx, person.person_id, origin, session);
    await appendAudit(tx, {
      workspaceId: found.workspace_id,
      actor: person.person_id,
      action: 'invitation.accept',
      subject: found.invitation_id,
      data: { role: found.role, invitedBy: found.created_by, address: origin.address },
    });
    return { person, workspaceId: found.workspace_id, secret: begun?.secret ?? null };
  });
}

async function identifyInvitee(
  deps: PeopleDeps,
  { linkToken, name, password }: AcceptInput,
  { invitation, session, origin }: { invitation: InvitationRow; session: Session; origin: Request },
): Promise<Invitee> {
  const { email } = invitation;
  const {
    database: { reader },
    clock,
  } = deps;
  const accounts = await listPeopleByEmail(reader, email);
  // A concurrent request may have used the link, and created the account, since it was read.
  if ((await readOpenInvitationByLink(reader, linkToken, clock.nowMs())) === undefined) {
    throw new HubError('INVITATION_LINK_INVALID');
  }
  const own = accounts.find((account) => account.person_id === session?.person_id);
  if (own !== undefined) return { kind: 'signed-in', personId: own.person_id };
  if (password === undefined) {
    if (name !== undefined) throw invalidField('/password', 'is required for a new account');
    const message = `Sign in as ${email}, or create an account with a name and a password.`;
    throw new HubError('SESSION_REQUIRED', message);
  }
  const { address } = origin;
  if (name === undefined) {
    const personId = await proveAccount(deps, { email, accounts, address }, password);
    return { kind: 'known', personId };
  }
  await refuseKnownPassword(deps, { email, accounts, address }, password);
  const passwordHash = await hashNewPassword(deps, password, { person: { email, name } });
  return { kind: 'new', name, passwordHash, accounts };
}

interface Attempt {
  email: string;
  accounts: readonly PersonRow[];
  /** The peer's IP address. */
  address: string;
}

/** @throws HubError SIGN_IN_FAILED, also if the address has no account; RATE_LIMITED */
async function proveAccount(
  deps: PeopleDeps,
  { email, accounts, address }: Attempt,
  password: string,
): Promise<string> {
  const attempt = deps.failureDelay.begin(email, address);
  const account = await findAccount(deps, accounts, password);
  if (account === undefined) throw new HubError('SIGN_IN_FAILED');
  attempt.succeed();
  return account.person_id;
}

/**
 * Checks that a new account has a password of its own. An account created through
 * another workspace does not reserve the address, so it does not prevent a new one; only a person
 * who knows its password learns that it exists.
 *
 * @throws HubError EMAIL_TAKEN, RATE_LIMITED
 */
async function refuseKnownPassword(
  deps: PeopleDeps,
  { email, accounts, address }: Attempt,
  password: string,
): Promise<void> {
  if (accounts.length === 0) return;
  const attempt = deps.failureDelay.begin(email, address);
  const account = await findAccount(deps, accounts, password);
  if (account === undefined) return;
  attempt.succeed();
  throw new HubError('EMAIL_TAKEN', 'You have an account with this password: sign in to accept.');
}

/** @throws HubError INVITATION_LINK_INVALID, ALREADY_MEMBER, EMAIL_TAKEN */
async function admitPerson(
  tx: Tx,
  invitation: InvitationRow,
  personId: string,
  invitee: Invitee,
): Promise<PersonRow> {
  const { workspace_id, email, role } = invitation;
  if (!(await markInvitationAccepted(tx, invitation, personId))) {
    throw new HubError('INVITATION_LINK_INVALID');
  }
  const accounts = await listPeopleByEmail(tx, email);
  await refuseMember(tx, workspace_id, accounts);
  if (invitee.kind === 'new') {
    // The person may have accepted an invitation to another workspace meanwhile.
    const isUnchanged = accounts.length === invitee.accounts.length;
    if (!isUnchanged || accounts.length === ACCOUNTS_OF_ADDRESS_MAX) {
      throw new HubError('EMAIL_TAKEN');
    }
    await insertPerson(tx, {
      person_id: personId,
      email,
      name: invitee.name,
      password_hash: invitee.passwordHash,
      created_at: tx.nowMs,
    });
  }
  await insertMembership(tx, {
    workspace_id,
    person_id: personId,
    role,
    created_at: tx.nowMs,
  });
  const person = await readPerson(tx, personId);
  assert(person !== undefined, 'the person exists now');
  return person;
}
