import { hash, randomBytes } from 'node:crypto';
import { HubError } from '../base/errors.ts';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { RecentReads } from '../base/recent-reads.ts';
import { NO_WORKSPACE, type Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import type { TokenCache } from '../tokens/cache.ts';
import type { PeopleDeps, SessionDeps } from './deps.ts';
import { isSessionLive, isSightingDue, SESSION_MS } from './policy.ts';
import {
  listSessions,
  markSessionRevoked,
  readSessionByHash,
  type SessionOfPerson,
  type SessionRow,
  updateSession,
} from './store.ts';

/*
 * Console sessions. The cookie contains a random secret; the hub stores only its hash. Requests
 * share a row for a second (`RecentSessions`), forgotten when a session ends, on every hub.
 * A request that writes checks the session again, in its transaction.
 */

const SECRET_BYTES = 32;
/** The schema's limits for the address and the user agent of a session. */
const ADDRESS_CHARS_MAX = 64;
const USER_AGENT_CHARS_MAX = 500;

export type Cookies = RequestContext['cookies'];
/** Where a request came from. */
export type Origin = Pick<RequestContext, 'address' | 'userAgent'>;

/**
 * Starts a session within a transaction, for a person who has just been authenticated.
 *
 * @param previous the session of the request, which ends.
 */
export async function beginSession(
  { ids }: Pick<PeopleDeps, 'ids'>,
  tx: Tx,
  personId: string,
  origin: Origin,
  previous: SessionRow | null = null,
): Promise<{ sessionId: string; secret: string }> {
  if (previous !== null) await markSessionRevoked(tx, previous.person_id, previous.session_id);
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const sessionId = ids('session');
  insertRow(tx, 'sessions', {
    session_id: sessionId,
    session_hash: hash('sha256', secret),
    person_id: personId,
    address: origin.address.slice(0, ADDRESS_CHARS_MAX),
    user_agent: origin.userAgent.slice(0, USER_AGENT_CHARS_MAX).toWellFormed(),
    created_at: tx.nowMs,
    last_seen_at: tx.nowMs,
    confirmed_at: tx.nowMs,
    expires_at: tx.nowMs + SESSION_MS,
    revoked_at: null,
  });
  return { sessionId, secret };
}

/** Sessions that were read within the last second, by the hash of their secret. */
export type RecentSessions = RecentReads<SessionOfPerson>;

/**
 * The live session of a request, or null.
 *
 * @param recent to look there first; null: the session as it is now.
 */
export async function findSession(
  { database, clock, baseUrl, log }: SessionDeps,
  cookies: Cookies,
  recent: RecentSessions | null = null,
): Promise<SessionOfPerson | null> {
  const secret = cookies[cookieName(baseUrl)];
  if (secret === undefined || secret === '') return null;
  const secretHash = hash('sha256', secret);
  const read = () => readSessionByHash(database.reader, secretHash);
  const session = await (recent?.find(secretHash, read) ?? read());
  if (session === undefined || !isSessionLive(session, clock.nowMs())) return null;
  if (isSightingDue(session, clock.nowMs())) {
    // Change the shared row first, so that other requests of this second do not write too.
    session.last_seen_at = clock.nowMs();
    database
      .writeConcurrent({ workspaceId: NO_WORKSPACE, keys: [session.session_id] }, (tx) =>
        updateSession(tx, session.session_id, { last_seen_at: tx.nowMs }),
      )
      .catch((error: unknown) =>
        log.error({ err: error }, 'The last use of a session was not recorded.'),
      );
  }
  return session;
}

/**
 * Authenticates a console request by its session cookie.
 * @throws HubError SESSION_REQUIRED
 */
export async function authenticateSession(
  deps: SessionDeps,
  cookies: Cookies,
  recent: RecentSessions,
): Promise<Principal> {
  const session = await findSession(deps, cookies, recent);
  if (session === null) throw new HubError('SESSION_REQUIRED', 'Sign in at the console.');
  return {
    kind: 'person',
    principalId: session.person_id,
    displayName: session.person_name,
    workspaceId: null,
    // The gatekeeper sets the scopes, by the role in the workspace that the request names.
    scopes: new Set(),
    tokenId: 'session',
    personId: session.person_id,
    sessionId: session.session_id,
    job: null,
    expiresAtMs: session.expires_at,
  };
}

/** Ends the session of a request, if there is one. */
export async function signOut(deps: SessionDeps & SessionEndDeps, cookies: Cookies): Promise<void> {
  const session = await findSession(deps, cookies);
  if (session === null) return;
  await revokeSession(deps, session.person_id, session.session_id);
}

export interface SessionEndDeps extends Pick<SessionDeps, 'database'> {
  tokenCache: Pick<TokenCache, 'clear'>;
}

/**
 * Ends a session of a person, and its open streams on every hub; false if they have no such session
 * or it had ended.
 */
export function revokeSession(
  { database, tokenCache }: SessionEndDeps,
  personId: string,
  sessionId: string,
): Promise<boolean> {
  return database.write(NO_WORKSPACE, (tx) => {
    tx.afterCommit(() => tokenCache.clear());
    return markSessionRevoked(tx, personId, sessionId);
  });
}

export async function listLiveSessions(
  { database, clock }: Pick<SessionDeps, 'database' | 'clock'>,
  personId: string,
): Promise<SessionRow[]> {
  const sessions = await listSessions(database.reader, personId);
  return sessions.filter((session) => isSessionLive(session, clock.nowMs()));
}

/** @param secret of a session that was started; null deletes the cookie. */
export function setSessionCookie(
  { baseUrl }: Pick<SessionDeps, 'baseUrl'>,
  context: Pick<RequestContext, 'setCookie'>,
  secret: string | null,
): void {
  context.setCookie(cookieName(baseUrl), secret, { maxAgeMs: SESSION_MS });
}

/**
 * The name of a cookie. Browsers bind `__Host-` cookies to one host and to TLS, and reject them
 * over plain HTTP, which a hub on a laptop uses.
 */
export function cookieName(baseUrl: string, name: 'session' | 'browser' = 'session'): string {
  return `${new URL(baseUrl).protocol === 'https:' ? '__Host-' : ''}sbx_${name}`;
}
