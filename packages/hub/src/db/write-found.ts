import { HubError } from '../base/errors.ts';
import type { Database, Reader, Tx } from './engine.ts';

const ATTEMPTS_MAX = 5;

/**
 * Runs an action whose scope has to be read first, such as the workspaces of a person. It excludes
 * only actions on the same subjects.
 *
 * @param find returns the ids of the scope. It runs before the action and again within it. If it
 *   returns a further id then, the action is tried again with that scope.
 */
export async function writeFound<T>(
  database: Database,
  find: (reader: Reader) => Promise<readonly string[]>,
  action: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const known = new Set(await find(database.reader));
    const outcome = await database.write([...known], async (tx) => {
      const isCovered = (await find(tx)).every((id) => known.has(id));
      return isCovered ? { value: await action(tx) } : null;
    });
    if (outcome !== null) return outcome.value;
  }
  throw new HubError('UNAVAILABLE', 'Other requests changed the same records. Try again.', {
    retryAfterMs: 1_000,
  });
}
