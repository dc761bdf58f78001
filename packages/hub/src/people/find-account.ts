import { invalidField } from '../base/errors.ts';
import type { PeopleDeps } from './deps.ts';
import { listPeopleByEmail, type PersonRow } from './store.ts';

/**
 * Finds the account of an address that a password belongs to. Without an account it takes as long
 * as with one, so that the time tells nothing.
 */
export async function findAccount(
  { passwords }: Pick<PeopleDeps, 'passwords'>,
  accounts: readonly PersonRow[],
  password: string,
): Promise<PersonRow | undefined> {
  if (accounts.length === 0) await passwords.verify(password, null);
  for (const account of accounts) {
    if (await passwords.verify(password, account.password_hash)) return account;
  }
  return undefined;
}

/**
 * Refuses a new password that another account of the same address has: signing in could not tell
 * the two apart.
 *
 * @throws HubError INVALID_REQUEST
 */
export async function refuseSharedPassword(
  deps: Pick<PeopleDeps, 'passwords' | 'database'>,
  { person_id, email }: PersonRow,
  newPassword: string,
): Promise<void> {
  const all = await listPeopleByEmail(deps.database.reader, email);
  const others = all.filter((account) => account.person_id !== person_id);
  if (others.length === 0 || (await findAccount(deps, others, newPassword)) === undefined) return;
  throw invalidField('/newPassword', 'must differ from that of your other account: choose another');
}
