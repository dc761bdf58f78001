import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import { assert, HubError } from '../errors.ts';
import type { RequestContext } from '../principal.ts';
import { hashNewPassword } from './password-actions.ts';
import { type PeopleDeps, provePassword } from './sessions.ts';
import {
  listMemberships,
  type PersonRow,
  readPerson,
  revokeOtherSessions,
  updatePasswordHash,
  updatePersonName,
} from './store.ts';

/** Gives a person another name, in every workspace that she belongs to. */
export function renamePerson(
  { database }: Pick<PeopleDeps, 'database'>,
  personId: string,
  name: string,
): Promise<PersonRow> {
  return database.write(null, async (tx) => {
    const person = await readPerson(tx, personId);
    assert(person !== undefined, 'a session belongs to a person');
    if (person.name === name) return person;
    await updatePersonName(tx, personId, name);
    await tellWorkspaces(tx, personId, 'person.rename', { from: person.name, to: name });
    return { ...person, name };
  });
}

/**
 * Changes the password of whoever asks, who proves the present one. All her other sessions end:
 * whoever had learned the old password is out.
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
    // The same request made twice at once: the second has proved a password that is none any more.
    if (!(await updatePasswordHash(tx, personId, { from: person.password_hash, to }))) {
      throw new HubError('SIGN_IN_FAILED', 'The password was changed meanwhile.');
    }
    const sessionsEnded = await revokeOtherSessions(tx, personId, sessionId);
    await tellWorkspaces(tx, personId, 'person.change-password', { address, sessionsEnded });
    return sessionsEnded;
  });
}

/** A person stands above the workspaces, so each of hers has it in its log. */
async function tellWorkspaces(
  tx: Tx,
  personId: string,
  action: string,
  data: Record<string, unknown>,
): Promise<void> {
  for (const { workspace_id } of await listMemberships(tx, personId)) {
    await appendAudit(tx, {
      workspaceId: workspace_id,
      actor: personId,
      action,
      subject: personId,
      data,
    });
  }
}
