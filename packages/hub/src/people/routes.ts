import { consoleEndpoints, type SessionState } from '@signalbox/contract';
import { assert } from '../errors.ts';
import type { Api } from '../http/bind.ts';
import type { Principal, RequestContext } from '../principal.ts';
import { createFirstOwner, isLinkValid } from './first-owner-actions.ts';
import { SESSION_MS } from './policy.ts';
import { presentSession, presentSessionState } from './present.ts';
import {
  findSession,
  listLiveSessions,
  type PeopleDeps,
  revokeSession,
  signIn,
  signOut,
} from './session-actions.ts';
import { sessionCookieName } from './session-cookie.ts';
import { hasPeople, listMemberships, type PersonRow, readPerson } from './store.ts';

export function bindPeopleRoutes(api: Api, deps: PeopleDeps): void {
  bindSessionRoutes(api, deps);
  bindFirstOwnerRoutes(api, deps);
}

function bindSessionRoutes(api: Api, deps: PeopleDeps): void {
  const { session } = consoleEndpoints;
  api.bind(session.get, async (_input, { cookies }) => {
    const live = await findSession(deps, cookies);
    const person = live && (await readPerson(deps.database.reader, live.person_id));
    return readState(deps, person ?? null);
  });
  api.bind(session.signIn, async (input, context) => {
    const { person, secret } = await signIn(deps, input, context, context.cookies);
    setSession(deps, context, secret);
    return readState(deps, person);
  });
  api.bind(session.signOut, async (_input, context) => {
    await signOut(deps, context.cookies);
    setSession(deps, context, null);
    return {};
  });
  api.bind(session.list, async (_input, { principal }) => {
    const sessions = await listLiveSessions(deps, personIdOf(principal));
    return { sessions: sessions.map((row) => presentSession(row, principal.sessionId)) };
  });
  api.bind(session.revoke, async ({ sessionId }, context) => {
    const { principal } = context;
    const revoked = await revokeSession(deps, personIdOf(principal), sessionId);
    if (sessionId === principal.sessionId) setSession(deps, context, null);
    return { revoked };
  });
}

function bindFirstOwnerRoutes(api: Api, deps: PeopleDeps): void {
  const { firstOwner } = consoleEndpoints;
  api.bind(firstOwner.check, async ({ linkToken }) => ({
    valid: await isLinkValid(deps.database.reader, linkToken),
  }));
  api.bind(firstOwner.create, async (input, context) => {
    const { person, secret } = await createFirstOwner(deps, input, context);
    setSession(deps, context, secret);
    return readState(deps, person);
  });
}

async function readState(
  { database }: PeopleDeps,
  person: PersonRow | null,
): Promise<Omit<SessionState, 'ok'>> {
  const { reader } = database;
  const memberships = person === null ? [] : await listMemberships(reader, person.person_id);
  return presentSessionState(person, memberships, !(await hasPeople(reader)));
}

function setSession({ baseUrl }: PeopleDeps, context: RequestContext, secret: string | null) {
  context.setCookie(sessionCookieName(baseUrl), secret, { maxAgeMs: SESSION_MS });
}

function personIdOf(principal: Principal): string {
  assert(principal.personId !== null, 'a console session has a person');
  return principal.personId;
}
