import type { Tx } from '../db/engine.ts';
import { assert } from '../errors.ts';
import type { Recovery } from '../queue/queue.ts';
import { inputKeptOf } from './kept-input.ts';
import { readCloudAiJob, updateCloudAiEnd } from './store.ts';

/** Writes what a lost lease means: only a job without attempts left, or a canceled one, ends. */
export async function recordCloudAiRecovery(tx: Tx, { lost, cause }: Recovery): Promise<void> {
  if (cause === 'lease-lost') return;
  const row = await readCloudAiJob(tx, lost.workspace_id, lost.entry_id);
  assert(row !== undefined, 'an entry of the queue has its row');
  const input = inputKeptOf(row);
  if (cause === 'cancel') {
    await updateCloudAiEnd(tx, { ...row, input });
    return;
  }
  // The wire has no code for it here, so the sentence begins with the one that jobs have.
  const message = `attempts_exhausted: all ${lost.attempts_max} attempts lost their lease.`;
  await updateCloudAiEnd(tx, { ...row, input, outcome: 'failed', message });
}
