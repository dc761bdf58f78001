import { listMembershipsOfPerson } from '../access/store.ts';
import type { Database, Tx } from '../db/engine.ts';

/** More memberships are rare; then the action excludes every other instead. */
const WORKSPACES_MAX = 50;
const ATTEMPTS_MAX = 5;

/**
 * Runs an action on a person's account, which also appends to the audit logs of their workspaces.
 * It excludes the actions of these workspaces and of the person, and no others: people of one
 * workspace must not hold up the rest of the hub.
 */
export async function writeAccount<T>(
  database: Database,
  personId: string,
  action: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const known = await listMembershipsOfPerson(database.reader, personId);
    if (known.length > WORKSPACES_MAX) break;
    const workspaceIds = new Set(known.map(({ workspace_id }) => workspace_id));
    const outcome = await database.write([personId, ...workspaceIds], async (tx) => {
      // The person may have joined a workspace meanwhile, whose audit log this does not lock.
      const now = await listMembershipsOfPerson(tx, personId);
      const isCovered = now.every(({ workspace_id }) => workspaceIds.has(workspace_id));
      return isCovered ? { value: await action(tx) } : null;
    });
    if (outcome !== null) return outcome.value;
  }
  return database.write(null, action);
}
