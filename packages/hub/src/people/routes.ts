import { consoleEndpoints } from '@signalbox/contract';
import { personIdOf } from '../base/principal.ts';
import type { Api } from '../http/bind.ts';
import { changePassword } from './change-password.ts';
import { createFirstOwner, isLinkValid } from './create-first-owner.ts';
import type { PeopleDeps } from './deps.ts';
import { setBrowserCookie } from './known-browser.ts';
import { presentPasswordReset, presentPerson, presentSession } from './present.ts';
import { renamePerson } from './rename-person.ts';
import {
  checkPasswordReset,
  type PasswordResetDeps,
  setPasswordByReset,
} from './reset-password.ts';
import { readSessionState } from './session-state.ts';
import {
  findSession,
  listLiveSessions,
  revokeSession,
  setSessionCookie,
  signOut,
} from './sessions.ts';
import { signIn } from './sign-in.ts';
import { signInByLink } from './sign-in-link.ts';
import { readPerson } from './store.ts';

export function bindPeopleRoutes(api: Api, deps: PasswordResetDeps): void {
  bindSessionRoutes(api, deps);
  bindFirstOwnerRoutes(api, deps);
  bindAccountRoutes(api, deps);
  bindPasswordResetRoutes(api, deps);
}

function bindSessionRoutes(api: Api, deps: PasswordResetDeps): void {
  const { session } = consoleEndpoints;
  api.bind(session.get, async (_input, { cookies }) => {
    const live = await findSession(deps, cookies);
    const person = live && (await readPerson(deps.database.reader, live.person_id));
    return readSessionState(deps, person ?? null);
  });
  api.bind(session.signIn, async (input, context) => {
    const { person, secret } = await signIn(deps, input, context, context.cookies);
    setSessionCookie(deps, context, secret);
    setBrowserCookie(deps, context, person);
    return readSessionState(deps, person);
  });
  api.bind(session.signInByLink, async ({ linkToken }, context) => {
    const { person, secret } = await signInByLink(deps, linkToken, context, context.cookies);
    setSessionCookie(deps, context, secret);
    setBrowserCookie(deps, context, person);
    return readSessionState(deps, person);
  });
  api.bind(session.signOut, async (_input, context) => {
    await signOut(deps, context.cookies);
    setSessionCookie(deps, context, null);
    return {};
  });
  api.bind(session.list, async (_input, { principal }) => {
    const sessions = await listLiveSessions(deps, personIdOf(principal));
    return { sessions: sessions.map((row) => presentSession(row, principal.sessionId)) };
  });
  api.bind(session.revoke, async ({ sessionId }, context) => {
    const { principal } = context;
    const revoked = await revokeSession(deps, personIdOf(principal), sessionId);
    if (sessionId === principal.sessionId) setSessionCookie(deps, context, null);
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
    setSessionCookie(deps, context, secret);
    return readSessionState(deps, person);
  });
}

function bindAccountRoutes(api: Api, deps: PasswordResetDeps): void {
  const { account } = consoleEndpoints;
  api.bind(account.update, async ({ name }, { principal }) => ({
    person: presentPerson(await renamePerson(deps, personIdOf(principal), name)),
  }));
  api.bind(account.changePassword, (input, context) => changePassword(deps, context, input));
}

function bindPasswordResetRoutes(api: Api, deps: PasswordResetDeps): void {
  const { passwordResets } = consoleEndpoints;
  api.bind(passwordResets.check, async ({ linkToken }) =>
    presentPasswordReset(await checkPasswordReset(deps, linkToken)),
  );
  api.bind(passwordResets.setPassword, async (input, context) => {
    const { person, secret } = await setPasswordByReset(deps, input, context);
    setSessionCookie(deps, context, secret);
    return readSessionState(deps, person);
  });
}
