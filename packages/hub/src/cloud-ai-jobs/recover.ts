import { assert } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import type { LostLease } from '../queue/queue.ts';
import type { HookDeps } from '../start/hooks.ts';
import { inputToKeep } from './hub-questions.ts';
import { readCloudAiJob, updateCloudAiEnd } from './store.ts';

/**
 * Records a lost lease in the cloud AI job, if the job has ended with it: canceled, or failed
 * because no attempts remain. The `onLeaseLost` of cloud AI jobs.
 */
export async function recordLostCloudAiLease(
  _deps: HookDeps,
  tx: Tx,
  { lost, cause }: LostLease,
): Promise<void> {
  if (cause === 'lease-lost') return;
  const row = await readCloudAiJob(tx, lost.workspace_id, lost.entry_id);
  assert(row !== undefined, 'an entry of the queue has its row');
  const input = inputToKeep(row);
  if (cause === 'cancel') {
    updateCloudAiEnd(tx, { ...row, input });
    return;
  }
  // The wire has no code here, so the message begins with the code that jobs have.
  const message = `attempts_exhausted: all ${lost.attempts_max} attempts lost their lease.`;
  updateCloudAiEnd(tx, { ...row, input, outcome: 'failed', message });
}
