import { LATEST_FIRINGS } from '@signalbox/contract';
import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, sql } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { TriggerFiringsTable } from '../db/schema/integrations.ts';

export type FiringRow = TriggerFiringsTable;

/** The event or the slot of a schedule that caused a firing. */
export type FiringCause = Pick<FiringRow, 'cause' | 'replay' | 'missed_slots'>;

const SLOT = 'slot:';
const HOUR_MS = 60 * 60 * 1_000;

/** Returns the value of the column `cause` for a slot. */
export function causeOfSlot(slotMs: number): string {
  return `${SLOT}${slotMs}`;
}

/** Returns the event that caused a firing, or null for a slot. */
export function eventOfFiring({ cause }: FiringRow): string | null {
  return cause.startsWith(SLOT) ? null : cause;
}

/** Reads the firing that started a run for this cause, if there is one. */
export function readStarted(
  reader: Reader,
  workspaceId: string,
  triggerId: string,
  cause: string,
): Promise<FiringRow | undefined> {
  return reader.firstSql<FiringRow>(
    `SELECT ${allColumns.trigger_firings} FROM trigger_firings
     WHERE workspace_id = ? AND trigger_id = ? AND cause = ? AND outcome = 'started'`,
    [workspaceId, triggerId, cause],
  );
}

/** Counts the runs that a trigger started within the last hour. */
export async function countStartedInHour(
  tx: Tx,
  workspaceId: string,
  triggerId: string,
): Promise<number> {
  const row = await tx.firstSql<{ count: number }>(
    `SELECT COUNT(*) AS count FROM trigger_firings
     WHERE workspace_id = ? AND trigger_id = ? AND outcome = 'started' AND at > ?`,
    [workspaceId, triggerId, tx.nowMs - HOUR_MS],
  );
  return row?.count ?? 0;
}

/** Lists all firings of a cause, in the order in which they happened. */
export function listFirings(
  reader: Reader,
  workspaceId: string,
  cause: string,
): Promise<FiringRow[]> {
  return reader.allSql<FiringRow>(
    `SELECT ${allColumns.trigger_firings} FROM trigger_firings WHERE workspace_id = ? AND cause = ?
     ORDER BY replay, trigger_id`,
    [workspaceId, cause],
  );
}

/** Lists the last firings of a trigger, newest first. */
export function listLatestFirings(
  reader: Reader,
  workspaceId: string,
  triggerId: string,
): Promise<FiringRow[]> {
  return reader.allSql<FiringRow>(
    `SELECT ${allColumns.trigger_firings} FROM trigger_firings
     WHERE workspace_id = ? AND trigger_id = ? ORDER BY at DESC, cause DESC, replay DESC LIMIT ?`,
    [workspaceId, triggerId, LATEST_FIRINGS],
  );
}

export async function deleteFiringsOf(
  tx: Tx,
  workspaceId: string,
  causes: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'trigger_firings', { workspace_id: workspaceId, cause: causes });
}

/** Deletes firings of slots before a time, in all workspaces. @returns how many. */
export async function deleteOldSlots(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const isOld = sql(
    `(workspace_id, cause, replay, trigger_id) IN (
       SELECT workspace_id, cause, replay, trigger_id FROM trigger_firings
       WHERE cause >= 'slot:' AND cause < 'slot;' AND at < ? ORDER BY at LIMIT ?)`,
    beforeMs,
    limit,
  );
  return deleteRows(tx, 'trigger_firings', { also: isOld });
}
