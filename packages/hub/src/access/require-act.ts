import type { Reader } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { HubError } from '../errors.ts';
import { readRole } from '../people/store.ts';
import { type Principal, personIdOf } from '../principal.ts';
import { type Act, mayAct } from './policy.ts';

/** A person at the console and what she is in the workspace of her request. */
export interface Actor {
  personId: string;
  role: Role;
}

/**
 * Holds an act against the role that the person has now. Actions ask within their transaction: a
 * role may have changed since the request came in.
 *
 * @throws HubError WORKSPACE_NOT_FOUND for who does not belong to it (any more), NOT_ALLOWED.
 */
export async function requireAct(
  reader: Reader,
  principal: Principal,
  workspaceId: string,
  act: Act,
): Promise<Actor> {
  const personId = personIdOf(principal);
  const role = await readRole(reader, personId, workspaceId);
  if (role === null) throw new HubError('WORKSPACE_NOT_FOUND');
  if (!mayAct(role, act)) {
    throw new HubError('NOT_ALLOWED', 'Only owners and admins of the workspace may do this.');
  }
  return { personId, role };
}
