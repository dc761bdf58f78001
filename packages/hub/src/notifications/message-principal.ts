import { scopesOfRole } from '../access/policy.ts';
import { readRole } from '../access/store.ts';
import type { Principal } from '../base/principal.ts';
import { actFor } from '../db/acting-caller.ts';
import type { Reader } from '../db/engine.ts';
import { readPerson } from '../people/store.ts';

/** The person who writes or presses a button elsewhere; null: they are not a member (any more). */
export async function readMessagePrincipal(
  reader: Reader,
  workspaceId: string,
  personId: string,
): Promise<Principal | null> {
  const [person, role] = await Promise.all([
    readPerson(reader, personId),
    readRole(reader, personId, workspaceId),
  ]);
  if (person === undefined || role === null) return null;
  return {
    kind: 'message',
    principalId: personId,
    displayName: person.name,
    workspaceId,
    scopes: new Set(scopesOfRole(role)),
    tokenId: 'message',
    personId,
    sessionId: null,
    job: null,
    expiresAtMs: null,
  };
}

/** Runs the work of a message, which has the person's share of the database. */
export function actForMessage<T>(workspaceId: string, personId: string, run: () => T): T {
  return actFor({ key: personId, workspaceId, guard: null, isLongRead: false }, run);
}
