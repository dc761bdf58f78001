import { assert } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { applyResolution } from './apply-resolution.ts';
import {
  listDueHandOvers,
  readUncertainty,
  type UncertaintyKey,
  updateHandedOver,
} from './store.ts';
import { readResolution } from './store-resolutions.ts';

/**
 * Hands over the answers that can no longer be withdrawn. The answers are in the database, so none
 * is lost when the hub, or the page on which it was given, ends before.
 *
 * @returns how many were due.
 */
export async function handOverDueAnswers(deps: HubDeps, limit: number): Promise<number> {
  const { database, clock } = deps;
  const due = await listDueHandOvers(database.reader, clock.nowMs(), limit);
  // Each in its own transaction, so that a failure does not stop the others.
  const settled = await Promise.allSettled(
    due.map((key) => database.write(key.workspace_id, (tx) => handOverNow(deps, tx, key))),
  );
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return due.length;
}

async function handOverNow(deps: HubDeps, tx: Tx, key: UncertaintyKey): Promise<void> {
  const { workspace_id: workspaceId, uncertainty_id: uncertaintyId } = key;
  if (!(await updateHandedOver(tx, key))) return;
  const row = await readUncertainty(tx, workspaceId, uncertaintyId);
  const resolution = await readResolution(tx, workspaceId, uncertaintyId);
  assert(row !== undefined && resolution !== undefined, 'an answer to hand over is stored');
  await updateRows(tx, 'resolutions', { ...key, seq: resolution.seq }, { is_held: 0 });
  await applyResolution(deps, tx, row, resolution);
}
