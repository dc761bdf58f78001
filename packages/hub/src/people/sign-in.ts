import { appendAccountAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { PeopleDeps } from './deps.ts';
import { findAccount } from './find-account.ts';
import { findKnownBrowser } from './known-browser.ts';
import { SESSION_IDLE_MS } from './policy.ts';
import { beginSession, type Cookies, findSession, type Origin } from './sessions.ts';
import { deleteEndedSessions, foldEmail, listPeopleByEmail, type PersonRow } from './store.ts';
import { writeAccount } from './write-account.ts';

/**
 * Checks a password and starts a session. Ends the session of the request's cookie, if any.
 *
 * @returns the person, and the secret for the cookie.
 * @throws HubError SIGN_IN_FAILED, with the same answer and delay for unknown people; RATE_LIMITED.
 */
export async function signIn(
  deps: PeopleDeps,
  input: { email: string; password: string },
  origin: Origin,
  cookies: Cookies,
): Promise<{ person: PersonRow; secret: string }> {
  const email = foldEmail(input.email);
  const accounts = await listPeopleByEmail(deps.database.reader, email);
  const browsers = accounts.map((account) => findKnownBrowser(deps, cookies, account));
  const browser = browsers.find((known) => known !== null);
  const place = browser === undefined ? origin.address : `browser ${browser}`;
  const attempt = deps.failureDelay.begin(email, place);
  const person = await findAccount(deps, accounts, input.password);
  if (person === undefined) {
    for (const account of accounts) deps.failedSignIns.note(account.person_id, origin.address);
    throw new HubError('SIGN_IN_FAILED');
  }
  attempt.succeed();
  const previous = await findSession(deps, cookies);
  const { person_id: personId } = person;
  const secret = await writeAccount(deps.database, personId, async (tx) => {
    await deleteEndedSessions(tx, personId, tx.nowMs - SESSION_IDLE_MS);
    const begun = await beginSession(deps, tx, personId, origin, previous);
    await appendAccountAudit(tx, personId, {
      action: 'session.sign-in',
      subject: begun.sessionId,
      data: { address: origin.address },
    });
    return begun.secret;
  });
  return { person, secret };
}
