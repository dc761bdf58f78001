import type { endpoints, RequestInput, Uncertainty } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { requireEntryOfAgent } from '../jobs/require-job.ts';
import { requireClaim } from '../queue/leased-work.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentWhole, requireUncertainty } from './require-uncertainty.ts';
import { updateAnswersSeen, updateTaken } from './store.ts';

type TakeInput = RequestInput<typeof endpoints.uncertainties.takeAnswer.request>;

/**
 * Marks an answer as received and used by the agent that holds the job that asked. An answer has
 * one taker: another agent, which does not know whether the action was executed, asks again.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, JOB_NOT_FOUND, AGENT_NOT_FOUND, or a refusal of the claim
 */
export function takeAnswer(
  deps: HubDeps,
  principal: Principal,
  input: TakeInput,
): Promise<{ taken: boolean; uncertainty: Uncertainty }> {
  const { workspaceId, uncertaintyId, jobId, agentId } = input;
  return deps.database.write(workspaceId, async (tx) => {
    const entry = await requireEntryOfAgent(tx, principal, input);
    requireClaim(entry, input);
    const row = await requireUncertainty(tx, principal, workspaceId, uncertaintyId);
    if (row.job_id !== jobId) throw new HubError('UNCERTAINTY_NOT_FOUND');
    const isMine = row.taken_by_agent_id === null || row.taken_by_agent_id === agentId;
    // An answer that can still be withdrawn is not handed over yet.
    const taken = row.status === 'resolved' && row.hand_over_at === null && isMine;
    if (taken) {
      await updateTaken(tx, row, agentId);
      await updateAnswersSeen(tx, workspaceId, jobId, uncertaintyId);
    }
    const uncertainty = await presentWhole(tx, workspaceId, uncertaintyId);
    return { taken, uncertainty };
  });
}
