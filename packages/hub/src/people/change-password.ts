import { appendAccountAudit } from '../audit/append.ts';
import { assert, HubError } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import { refuseSharedPassword } from './find-account.ts';
import { hashNewPassword } from './passwords.ts';
import { provePassword } from './prove-password.ts';
import type { PasswordResetDeps } from './reset-password.ts';
import { revokeOtherSessions, updatePasswordHash } from './store.ts';
import { markPasswordResetsReplaced } from './store-password-resets.ts';
import { writeAccount } from './write-account.ts';

/**
 * Changes the password of a signed-in person who proves the present one. Ends all their other
 * sessions and, unless asked not to, logs out their machines: somebody who knew the old password
 * may have started or approved them.
 *
 * @returns how many sessions ended, and how many machines were logged out.
 * @throws HubError SIGN_IN_FAILED, RATE_LIMITED, INVALID_REQUEST for a common password.
 */
export async function changePassword(
  deps: PasswordResetDeps,
  { principal, address }: Pick<RequestContext, 'principal' | 'address'>,
  input: { password: string; newPassword: string; logOutMachines: boolean },
): Promise<{ sessionsEnded: number; machinesLoggedOut: number }> {
  const { personId, sessionId } = principal;
  assert(personId !== null && sessionId !== null, 'a console session has a person');
  const person = await provePassword(deps, personId, address, input.password);
  await refuseSharedPassword(deps, person, input.newPassword);
  const to = await hashNewPassword(deps, input.newPassword, { person, path: '/newPassword' });
  return writeAccount(deps.database, personId, async (tx) => {
    // Of two concurrent changes, the second proved a password that is no longer the current one.
    if (!(await updatePasswordHash(tx, personId, { from: person.password_hash, to }))) {
      throw new HubError('SIGN_IN_FAILED', 'The password was changed meanwhile.');
    }
    const sessionsEnded = await revokeOtherSessions(tx, personId, sessionId);
    // An open reset link was created for the old password.
    await markPasswordResetsReplaced(tx, personId);
    const machinesLoggedOut = input.logOutMachines
      ? await deps.hooks.logOutMachines(deps, tx, { personId })
      : 0;
    await appendAccountAudit(tx, personId, {
      action: 'person.change-password',
      subject: personId,
      data: { address, sessionsEnded, machinesLoggedOut },
    });
    tx.afterCommit(() => deps.tokenCache.clear());
    return { sessionsEnded, machinesLoggedOut };
  });
}
