import type { Uncertainty } from '@signalbox/contract';
import { readAgent } from '../agents/store.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal, RequestContext } from '../principal.ts';
import { readEntry } from '../queue/store.ts';
import { deliverAnswer, readWhole, requireReadable, type UncertaintyRef } from './read.ts';
import type { UncertaintyRow } from './store.ts';

/**
 * Waits until an uncertainty is no longer open, at most `waitMs`.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, NOT_ALLOWED
 */
export async function waitForAnswer(
  deps: HubDeps,
  { principal, signal }: RequestContext,
  { waitMs, ...ref }: UncertaintyRef & { waitMs: number },
): Promise<Uncertainty> {
  const { reader } = deps.database;
  const parked = deps.decisionWaiters.park(ref.workspaceId, ref.uncertaintyId, waitMs, signal);
  try {
    const { status } = await requireReadable(reader, principal, ref);
    if (status === 'open') await parked.ended;
  } finally {
    parked.cancel();
  }
  const row = await requireReadable(reader, principal, ref);
  // A client that has disconnected receives nothing.
  const isDelivered = !signal.aborted && (await isAsker(reader, principal, row));
  return isDelivered ? deliverAnswer(deps, ref) : readWhole(deps, row);
}

/** Whether the caller waits for the job that asked: as its tool, or as the agent that holds it. */
async function isAsker(
  reader: Reader,
  principal: Principal,
  { workspace_id: workspaceId, job_id: jobId }: UncertaintyRow,
): Promise<boolean> {
  if (jobId === null) return false;
  if (principal.job !== null) return principal.job.jobId === jobId;
  const entry = await readEntry(reader, workspaceId, jobId);
  if (entry?.status !== 'running' || entry.agent_id === null) return false;
  const agent = await readAgent(reader, workspaceId, entry.agent_id);
  return agent?.principal_id === principal.principalId;
}
