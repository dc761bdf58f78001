import type { Uncertainty } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { answerRefusal, isVisible } from './policy.ts';
import { presentUncertainty } from './present.ts';
import { readUncertainty, type UncertaintyRow } from './store.ts';
import { listResolutions } from './store-resolutions.ts';

/**
 * Reads an uncertainty that the caller may know of.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, the same for unknown and foreign ids.
 */
export async function requireUncertainty(
  reader: Reader,
  principal: Principal,
  workspaceId: string,
  uncertaintyId: string,
): Promise<UncertaintyRow> {
  const row = await readUncertainty(reader, workspaceId, uncertaintyId);
  if (row === undefined || !isVisible(principal, row)) throw new HubError('UNCERTAINTY_NOT_FOUND');
  return row;
}

/**
 * Reads an uncertainty that the caller may answer.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, NOT_ALLOWED
 */
export async function requireAnswerable(
  reader: Reader,
  principal: Principal,
  workspaceId: string,
  uncertaintyId: string,
): Promise<UncertaintyRow> {
  const row = await requireUncertainty(reader, principal, workspaceId, uncertaintyId);
  const refusal = answerRefusal(principal, row);
  if (refusal !== null) throw new HubError('NOT_ALLOWED', refusal);
  return row;
}

/** Reads an uncertainty with its resolutions, as it is after the writes of the transaction. */
export async function presentWhole(
  tx: Tx,
  workspaceId: string,
  uncertaintyId: string,
): Promise<Uncertainty> {
  const row = await readUncertainty(tx, workspaceId, uncertaintyId);
  if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
  const resolutions = await listResolutions(tx, workspaceId, [uncertaintyId]);
  return presentUncertainty(row, resolutions, tx.nowMs);
}
