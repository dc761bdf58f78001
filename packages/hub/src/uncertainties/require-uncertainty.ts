import type { Uncertainty } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { presentUncertainty } from './present.ts';
import { readUncertainty, type UncertaintyRow } from './store.ts';
import { listResolutions } from './store-resolutions.ts';

/** @throws HubError UNCERTAINTY_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireUncertainty(
  reader: Reader,
  workspaceId: string,
  uncertaintyId: string,
): Promise<UncertaintyRow> {
  const row = await readUncertainty(reader, workspaceId, uncertaintyId);
  if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
  return row;
}

/** Reads an uncertainty with its resolutions, as it is after the writes of the transaction. */
export async function presentWhole(
  tx: Tx,
  workspaceId: string,
  uncertaintyId: string,
): Promise<Uncertainty> {
  const row = await requireUncertainty(tx, workspaceId, uncertaintyId);
  const resolutions = await listResolutions(tx, workspaceId, [uncertaintyId]);
  return presentUncertainty(row, resolutions, tx.nowMs);
}
