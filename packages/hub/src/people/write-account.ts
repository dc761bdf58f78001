import { listMembershipsOfPerson } from '../access/store.ts';
import type { Database, Reader, Tx } from '../db/engine.ts';
import { writeFound } from '../db/write-found.ts';
import { foldEmail, listPeopleByEmail } from './store.ts';

/**
 * Runs an action on a person's account, which also appends to the audit logs of their workspaces.
 * It excludes the actions of these workspaces and of the person, and no others: people of one
 * workspace must not hold up the rest of the hub.
 *
 * @param more further ids of the scope.
 */
export function writeAccount<T>(
  database: Database,
  personId: string,
  action: (tx: Tx) => Promise<T>,
  more: readonly string[] = [],
): Promise<T> {
  const find = async (reader: Reader) => [...more, ...(await listPersonScope(reader, personId))];
  return writeFound(database, find, action);
}

/** The scope of a write on the accounts of an e-mail address. */
export async function listAccountScope(reader: Reader, email: string): Promise<string[]> {
  const address = foldEmail(email);
  const people = await listPeopleByEmail(reader, address);
  const scopes = await Promise.all(
    people.map(({ person_id }) => listPersonScope(reader, person_id)),
  );
  return [address, ...scopes.flat()];
}

async function listPersonScope(reader: Reader, personId: string): Promise<string[]> {
  const memberships = await listMembershipsOfPerson(reader, personId);
  return [personId, ...memberships.map(({ workspace_id }) => workspace_id)];
}
