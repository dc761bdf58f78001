import { appendAccountAudit } from '../audit/append.ts';
import { assert, HubError } from '../errors.ts';
import type { RequestContext } from '../principal.ts';
import type { PeopleDeps } from './deps.ts';
import { hashNewPassword } from './passwords.ts';
import { provePassword } from './prove-password.ts';
import { revokeOtherSessions, updatePasswordHash } from './store.ts';
import { markPasswordResetsReplaced } from './store-password-resets.ts';

/**
 * Changes the password of a signed-in person who proves the present one. Ends all their other
 * sessions, which somebody who knew the old password may have started.
 *
 * @returns how many sessions ended.
 * @throws HubError SIGN_IN_FAILED, RATE_LIMITED, INVALID_REQUEST for a common password.
 */
export async function changePassword(
  deps: PeopleDeps,
  { principal, address }: Pick<RequestContext, 'principal' | 'address'>,
  input: { password: string; newPassword: string },
): Promise<number> {
  const { personId, sessionId } = principal;
  assert(personId !== null && sessionId !== null, 'a console session has a person');
  const person = await provePassword(deps, personId, address, input.password);
  const to = await hashNewPassword(deps, input.newPassword, { person, path: '/newPassword' });
  return deps.database.write(null, async (tx) => {
    // Of two concurrent changes, the second proved a password that is no longer the current one.
    if (!(await updatePasswordHash(tx, personId, { from: person.password_hash, to }))) {
      throw new HubError('SIGN_IN_FAILED', 'The password was changed meanwhile.');
    }
    const sessionsEnded = await revokeOtherSessions(tx, personId, sessionId);
    // An open reset link was created for the old password.
    await markPasswordResetsReplaced(tx, personId);
    await appendAccountAudit(tx, personId, {
      action: 'person.change-password',
      subject: personId,
      data: { address, sessionsEnded },
    });
    return sessionsEnded;
  });
}
