import type { SessionState } from '@signalbox/contract';
import type { RequestContext } from '../principal.ts';
import { SESSION_MS } from './policy.ts';
import { presentSessionState } from './present.ts';
import { sessionCookieName } from './session-cookie.ts';
import type { SessionDeps } from './sessions.ts';
import { hasPeople, listMemberships, type PersonRow } from './store.ts';

/** Who is signed in and where she belongs, as the console reads it. */
export async function readSessionState(
  { database }: Pick<SessionDeps, 'database'>,
  person: PersonRow | null,
): Promise<Omit<SessionState, 'ok'>> {
  const { reader } = database;
  const memberships = person === null ? [] : await listMemberships(reader, person.person_id);
  return presentSessionState(person, memberships, !(await hasPeople(reader)));
}

/** @param secret of a session that has begun; null takes the cookie away. */
export function setSessionCookie(
  { baseUrl }: Pick<SessionDeps, 'baseUrl'>,
  context: RequestContext,
  secret: string | null,
): void {
  context.setCookie(sessionCookieName(baseUrl), secret, { maxAgeMs: SESSION_MS });
}
