import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { DeviceSessionsTable } from '../db/schema/tables.ts';

/** A device session. It has no workspace before its approval, so its id alone is the key. */
export type DeviceRow = DeviceSessionsTable;

export function readDevice(reader: Reader, deviceId: string): Promise<DeviceRow | undefined> {
  return reader.firstSql<DeviceRow>(
    `SELECT ${allColumns.device_sessions} FROM device_sessions WHERE device_id = ?`,
    [deviceId],
  );
}

/**
 * The number of open sessions of a block of addresses, those for one workspace among them, and when
 * the first expires.
 */
export async function countOpenDevices(
  tx: Tx,
  addressBlock: string,
  workspaceSlug: string,
): Promise<{ count: number; ofWorkspace: number; firstExpiryMs: number }> {
  const row = await tx.firstSql<{ count: number; same: number; first_expiry: number | null }>(
    `SELECT COUNT(*) AS count, MIN(expires_at) AS first_expiry,
       COUNT(CASE WHEN workspace_slug = ? THEN 1 END) AS same
     FROM device_sessions WHERE address_block = ? AND expires_at > ? AND status = 'pending'`,
    [workspaceSlug, addressBlock, tx.nowMs],
  );
  return {
    count: Number(row?.count ?? 0),
    ofWorkspace: Number(row?.same ?? 0),
    firstExpiryMs: row?.first_expiry ?? tx.nowMs,
  };
}

export async function insertDevice(
  tx: Tx,
  draft: Omit<DeviceRow, keyof typeof unanswered | 'created_at'>,
): Promise<DeviceRow> {
  const row: DeviceRow = { ...draft, ...unanswered, created_at: tx.nowMs };
  insertRow(tx, 'device_sessions', row);
  return row;
}

const unanswered = {
  status: 'pending',
  polled_at: null,
  opened_by_session_id: null,
  wrong_codes: 0,
  answered_at: null,
  workspace_id: null,
  token_id: null,
} as const;

export async function updateDevice(
  tx: Tx,
  deviceId: string,
  changes: Partial<DeviceRow>,
): Promise<void> {
  await updateRows(tx, 'device_sessions', { device_id: deviceId }, changes);
}

/** The number of wrong codes of a block of addresses since a time, and when the first was sent. */
export async function countCodeFailures(
  reader: Reader,
  addressBlock: string,
  sinceMs: number,
): Promise<{ count: number; firstAtMs: number }> {
  const row = await reader.firstSql<{ count: number; first_at: number | null }>(
    `SELECT COUNT(*) AS count, MIN(at) AS first_at FROM device_code_failures
     WHERE address = ? AND at > ?`,
    [addressBlock, sinceMs],
  );
  return { count: Number(row?.count ?? 0), firstAtMs: row?.first_at ?? sinceMs };
}

/** Deletes sessions that expired long ago, at most `limit`. */
export async function deleteOldDevices(tx: Tx, expiredBeforeMs: number, limit: number) {
  const isOld = sql(
    `device_id IN (
       SELECT device_id FROM device_sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    expiredBeforeMs,
    limit,
  );
  await deleteRows(tx, 'device_sessions', { also: isOld });
}

/** Deletes the old wrong codes of all addresses. There are never many, so it needs no limit. */
export async function deleteOldCodeFailures(tx: Tx, beforeMs: number): Promise<void> {
  await deleteRows(tx, 'device_code_failures', { also: sql('at < ?', beforeMs) });
}

/** Deletes all device sessions. Returns how many logins were in progress. */
export async function deleteAllDevices(tx: Tx): Promise<number> {
  const open = await tx.firstSql<{ n: number }>(
    `SELECT COUNT(*) AS n FROM device_sessions WHERE status <> 'denied' AND expires_at > ?`,
    [tx.nowMs],
  );
  await deleteRows(tx, 'device_sessions', { also: sql('TRUE') });
  return Number(open?.n ?? 0);
}
