import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { type Act, mayAct } from './policy.ts';
import { readRole } from './store.ts';

/** A person, at the console or on their machine, and their role in the workspace. */
interface Actor {
  personId: string;
  role: Role;
}

/**
 * Checks that the person's current role allows an act. Operations call it within their
 * transaction, because the role may have changed since the request was authenticated.
 *
 * @throws HubError WORKSPACE_NOT_FOUND for a person who is not a member (any more); NOT_ALLOWED,
 *   also for programs.
 */
export async function requireAct(
  reader: Reader,
  principal: Principal,
  workspaceId: string,
  act: Act,
): Promise<Actor> {
  if (principal.personId === null) {
    throw new HubError('NOT_ALLOWED', 'Only people may do this: log in with signalbox login.');
  }
  const { personId } = principal;
  const role = await readRole(reader, personId, workspaceId);
  if (role === null) throw new HubError('WORKSPACE_NOT_FOUND');
  if (!mayAct(role, act)) {
    throw new HubError('NOT_ALLOWED', 'Only owners and admins of the workspace may do this.');
  }
  return { personId, role };
}
