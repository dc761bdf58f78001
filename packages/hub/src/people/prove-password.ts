import { assert, HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { NO_WORKSPACE } from '../db/engine.ts';
import type { PeopleDeps } from './deps.ts';
import { type PersonRow, readPerson, updateSession } from './store.ts';

/**
 * Checks a person's password. Failures delay further attempts, like those of signing in.
 *
 * @returns the person's row at the time of the check.
 * @throws HubError SIGN_IN_FAILED, RATE_LIMITED
 */
export async function provePassword(
  deps: PeopleDeps,
  personId: string,
  address: string,
  password: string,
): Promise<PersonRow> {
  const person = await readPerson(deps.database.reader, personId);
  assert(person !== undefined, 'people are never deleted');
  const attempt = deps.failureDelay.begin(person.email, address);
  if (!(await deps.passwords.verify(password, person.password_hash))) {
    throw new HubError('SIGN_IN_FAILED', 'The password is wrong.');
  }
  attempt.succeed();
  return person;
}

/**
 * Checks the password of a signed-in person again and records the confirmation in the session, for
 * acts that require a recent one. The session remains valid if the check fails.
 *
 * @throws HubError SIGN_IN_FAILED, RATE_LIMITED
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
  await deps.database.write(NO_WORKSPACE, (tx) =>
    updateSession(tx, sessionId, { confirmed_at: tx.nowMs }),
  );
}
