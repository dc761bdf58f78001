import type { Uncertainty } from '@signalbox/contract';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentToAsker } from './present.ts';
import {
  deliverAnswer,
  isHolder,
  readWhole,
  requireReadable,
  type UncertaintyRef,
} from './read.ts';
import type { UncertaintyRow } from './store.ts';

/**
 * Waits until an uncertainty is no longer open, at most `waitMs`. An answer that can still be
 * withdrawn does not count.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, NOT_ALLOWED
 */
export async function waitForAnswer(
  deps: HubDeps,
  { principal, waitSignal: signal }: RequestContext,
  { waitMs, peek, ...ref }: UncertaintyRef & { waitMs: number; peek: boolean },
): Promise<Uncertainty> {
  const { reader } = deps.database;
  const parked = deps.decisionWaiters.park(ref.workspaceId, ref.uncertaintyId, waitMs, signal);
  try {
    const { status, hand_over_at: handOverAtMs } = await requireReadable(reader, principal, ref);
    if (status === 'open' || handOverAtMs !== null) await parked.ended;
  } finally {
    parked.cancel();
  }
  const row = await requireReadable(reader, principal, ref);
  // A client that has disconnected receives nothing.
  const isDelivered = !peek && !signal.aborted && (await isAsker(reader, principal, row));
  return isDelivered ? deliverAnswer(deps, ref) : readWhole(deps, row, presentToAsker);
}

/** Whether the caller waits for the job that asked: as its tool, or as the agent that holds it. */
async function isAsker(
  reader: Reader,
  principal: Principal,
  row: UncertaintyRow,
): Promise<boolean> {
  if (principal.job !== null) return principal.job.jobId === row.job_id;
  return isHolder(reader, principal, row);
}
