import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { CHECKED_BYTES_MAX } from './finding.ts';

/**
 * Searches an SQLite database for damage in a separate thread, while the hub already answers. The
 * search reads every page: about a second for 500 MB, and nothing is searched beyond
 * `CHECKED_BYTES_MAX`.
 *
 * @returns the first damage as a sentence of SQLite, or null if none was found.
 * @throws when the thread fails or its memory is used up.
 */
export async function findDamageBesideHub(path: string): Promise<string | null> {
  const { size } = await stat(path);
  if (size > CHECKED_BYTES_MAX) return null;
  const thread = new Worker(new URL('../db/sqlite/damage-thread.ts', import.meta.url), {
    workerData: { path },
    resourceLimits: { maxOldGenerationSizeMb: 32 },
    env: {},
    execArgv: [],
    argv: [],
  });
  // A hub that is asked to stop does not wait for the search.
  thread.unref();
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  thread.once('message', resolve);
  thread.once('error', reject);
  thread.once('exit', () => reject(new Error('The thread ended without a result.')));
  return promise;
}
