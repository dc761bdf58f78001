import { invalidField } from '../errors.ts';
import { findPasswordFault } from './password-rules.ts';
import type { PeopleDeps } from './sessions.ts';

/**
 * Hashes a password that somebody has chosen, for the row of a person. Takes its time, so it comes
 * before an action and never within.
 *
 * @param options.path where the password stands in the request.
 * @throws HubError INVALID_REQUEST for a common one, RATE_LIMITED when too many wait.
 */
export async function hashNewPassword(
  { passwords }: Pick<PeopleDeps, 'passwords'>,
  password: string,
  { person, path = '/password' }: { person: { email: string; name: string }; path?: string },
): Promise<string> {
  const fault = findPasswordFault(password, person);
  if (fault !== null) throw invalidField(path, fault);
  return passwords.hash(password);
}
