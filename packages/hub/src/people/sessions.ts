import type { IdSource } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import type { Clock } from '../clock.ts';
import { type Database, NO_WORKSPACE, type Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { assert, HubError } from '../errors.ts';
import type { Principal, RequestContext } from '../principal.ts';
import type { FailureDelay } from './failure-delay.ts';
import type { PasswordHasher } from './passwords.ts';
import { isSessionLive, isSightingDue, SESSION_IDLE_MS, SESSION_MS } from './policy.ts';
import { drawSessionSecret, hashSessionSecret, sessionCookieName } from './session-cookie.ts';
import {
  deleteEndedSessions,
  insertSession,
  listMemberships,
  listSessions,
  markSessionConfirmed,
  markSessionRevoked,
  markSessionSeen,
  type PersonRow,
  readPerson,
  readPersonByEmail,
  readRole,
  readSessionByHash,
  type SessionRow,
} from './store.ts';

export interface SessionDeps {
  database: Database;
  clock: Clock;
  /** Where people reach this hub. */
  baseUrl: string;
  /** Told of what fails beside a request and must not fail the request. */
  log: { error(context: object, message: string): void };
}

export interface PeopleDeps extends SessionDeps {
  ids: IdSource;
  passwords: PasswordHasher;
  failureDelay: FailureDelay;
}

type Cookies = RequestContext['cookies'];
/** Where a request came from. */
type Origin = Pick<RequestContext, 'address' | 'userAgent'>;

/** One person, one spelling of the address. */
export function foldEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/**
 * Proves a password and begins a session; one that was sent along ends.
 *
 * @returns the person, and the secret for the cookie.
 * @throws HubError SIGN_IN_FAILED, the same and as slow for unknown people; RATE_LIMITED.
 */
export async function signIn(
  deps: PeopleDeps,
  input: { email: string; password: string },
  origin: Origin,
  cookies: Cookies,
): Promise<{ person: PersonRow; secret: string }> {
  const email = foldEmail(input.email);
  const attempt = deps.failureDelay.begin(email, origin.address);
  const person = await readPersonByEmail(deps.database.reader, email);
  const fits = await deps.passwords.verify(input.password, person?.password_hash ?? null);
  if (person === undefined || !fits) throw new HubError('SIGN_IN_FAILED');
  attempt.succeed();
  const previous = await findSession(deps, cookies);
  const secret = await deps.database.write(null, async (tx) => {
    if (previous !== null) {
      await markSessionRevoked(tx, previous.person_id, previous.session_id);
    }
    await deleteEndedSessions(tx, person.person_id, tx.nowMs - SESSION_IDLE_MS);
    const begun = await beginSession(deps, tx, person.person_id, origin);
    for (const { workspace_id } of await listMemberships(tx, person.person_id)) {
      await appendAudit(tx, {
        workspaceId: workspace_id,
        actor: person.person_id,
        action: 'session.sign-in',
        subject: begun.sessionId,
        data: { address: origin.address },
      });
    }
    return begun.secret;
  });
  return { person, secret };
}

/** Adds a session within an action, for whoever has just proved who she is. */
export async function beginSession(
  { database, ids }: Pick<PeopleDeps, 'database' | 'ids'>,
  tx: Tx,
  personId: string,
  origin: Origin,
): Promise<{ sessionId: string; secret: string }> {
  const secret = drawSessionSecret();
  const sessionId = ids('session');
  await insertSession(database, tx, {
    session_id: sessionId,
    session_hash: hashSessionSecret(secret),
    person_id: personId,
    expires_at: tx.nowMs + SESSION_MS,
    address: origin.address,
    user_agent: origin.userAgent,
  });
  return { sessionId, secret };
}

/** The live session of a request, or null. */
export async function findSession(
  { database, clock, baseUrl, log }: SessionDeps,
  cookies: Cookies,
): Promise<(SessionRow & { person_name: string }) | null> {
  const secret = cookies[sessionCookieName(baseUrl)];
  if (secret === undefined || secret === '') return null;
  const session = await readSessionByHash(database.reader, hashSessionSecret(secret));
  if (session === undefined || !isSessionLive(session, clock.nowMs())) return null;
  if (isSightingDue(session, clock.nowMs())) {
    database
      .writeConcurrent({ workspaceId: NO_WORKSPACE, keys: [session.session_id] }, (tx) =>
        markSessionSeen(tx, session.session_id),
      )
      .catch((error: unknown) => log.error({ err: error }, 'A session was not marked as seen.'));
  }
  return session;
}

/**
 * Who makes a console request.
 * @throws HubError SESSION_REQUIRED
 */
export async function authenticateSession(deps: SessionDeps, cookies: Cookies): Promise<Principal> {
  const session = await findSession(deps, cookies);
  if (session === null) throw new HubError('SESSION_REQUIRED', 'Sign in at the console.');
  return {
    kind: 'person',
    principalId: session.person_id,
    displayName: session.person_name,
    workspaceId: null,
    // Decided by the role in the workspace that the request names.
    scopes: new Set(),
    tokenId: 'session',
    personId: session.person_id,
    sessionId: session.session_id,
    job: null,
    expiresAtMs: session.expires_at,
  };
}

/** Ends the session of a request; harmless without one. */
export async function signOut(deps: SessionDeps, cookies: Cookies): Promise<void> {
  const session = await findSession(deps, cookies);
  if (session === null) return;
  await revokeSession(deps, session.person_id, session.session_id);
}

/** Ends a session of a person, at once and on every hub: sessions are read with each request. */
export function revokeSession(
  { database }: Pick<SessionDeps, 'database'>,
  personId: string,
  sessionId: string,
): Promise<boolean> {
  return database.write(NO_WORKSPACE, (tx) => markSessionRevoked(tx, personId, sessionId));
}

export async function listLiveSessions(
  { database, clock }: Pick<SessionDeps, 'database' | 'clock'>,
  personId: string,
): Promise<SessionRow[]> {
  const sessions = await listSessions(database.reader, personId);
  return sessions.filter((session) => isSessionLive(session, clock.nowMs()));
}

/**
 * Proves the password of a signed-in person again, for acts that ask for a recent proof.
 *
 * @throws HubError SIGN_IN_FAILED, and the session goes on; RATE_LIMITED.
 */
export async function confirmPassword(
  deps: PeopleDeps,
  principal: Principal,
  address: string,
  password: string,
): Promise<void> {
  const { personId, sessionId } = principal;
  assert(personId !== null && sessionId !== null, 'a console session has a person');
  await provePassword(deps, personId, address, password);
  await deps.database.write(NO_WORKSPACE, (tx) => markSessionConfirmed(tx, sessionId));
}

/**
 * Holds a password against a person's; failures are slowed down like those of signing in.
 *
 * @returns the person as she was when the password fitted.
 * @throws HubError SIGN_IN_FAILED, RATE_LIMITED
 */
export async function provePassword(
  deps: PeopleDeps,
  personId: string,
  address: string,
  password: string,
): Promise<PersonRow> {
  const person = await readPerson(deps.database.reader, personId);
  assert(person !== undefined, 'people stay');
  const attempt = deps.failureDelay.begin(person.email, address);
  if (!(await deps.passwords.verify(password, person.password_hash))) {
    throw new HubError('SIGN_IN_FAILED', 'The password is wrong.');
  }
  attempt.succeed();
  return person;
}

/** What a person is in a workspace; null when she does not belong to it. */
export function findRole(
  database: Database,
  personId: string,
  workspaceId: string,
): Promise<Role | null> {
  return readRole(database.reader, personId, workspaceId);
}
