import type { endpoints, JobMessage, RequestInput } from '@signalbox/contract';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import { requireClaim } from '../queue/leased-work.ts';
import { generationOf } from '../queue/states.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentMessage } from './present.ts';
import { requireJobOfAgent } from './require-job.ts';
import { type JobRow, updateJob } from './store.ts';
import { listMessages } from './store-rounds.ts';

type TakeInput = RequestInput<typeof endpoints.jobs.takeMessages.request>;

/**
 * Records which messages the tool of the running attempt has, and returns all that no round has. A
 * message that is returned stays queued until the agent says that the tool has it.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, or a refusal of `checkClaim`
 */
export function takeMessages(
  deps: HubDeps,
  principal: Principal,
  input: TakeInput,
): Promise<JobMessage[]> {
  const { workspaceId, jobId, delivered } = input;
  return deps.database.writeConcurrent({ workspaceId, keys: [jobId] }, async (tx) => {
    const { entry, row } = await requireJobOfAgent(tx, principal, input);
    requireClaim(entry, input);
    const messages_generation = generationOf(entry);
    if (row.messages_generation !== messages_generation) {
      await updateJob(tx, row, { messages_generation });
    }
    await recordDelivered(tx, row, delivered);
    if (row.message_count === 0) return [];
    const messages = await listMessages(tx, workspaceId, jobId);
    return messages.filter(({ next_job_id }) => next_job_id === null).map(presentMessage);
  });
}

/**
 * Records that the tool of the current attempt has these messages, and none of the others: one that
 * the tool of an earlier attempt had is queued again.
 */
export async function recordDelivered(
  tx: Tx,
  { workspace_id, job_id, message_count }: JobRow,
  numbers: readonly number[],
): Promise<void> {
  if (message_count === 0) return;
  for (const message of await listMessages(tx, workspace_id, job_id)) {
    const { number, delivered_at, next_job_id } = message;
    const has = numbers.includes(number);
    if (next_job_id !== null || has === (delivered_at !== null)) continue;
    const set = { delivered_at: has ? tx.nowMs : null };
    await updateRows(tx, 'job_messages', { workspace_id, job_id, number }, set);
  }
}
