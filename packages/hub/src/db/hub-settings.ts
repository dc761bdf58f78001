import type { Reader, Tx } from './engine.ts';
import { deleteRows, insertNewRow, sql, upsertRow } from './row-write.ts';

/*
 * Values that belong to the whole database rather than to a workspace, such as the fingerprint of
 * the key that its secrets are sealed with.
 */

/** The setting that `raiseMark` raises. */
export const MARK_SETTING = 'mark';

/** Raises a number by which hubs find out that a database has returned to an earlier state. */
export async function raiseMark(tx: Tx): Promise<void> {
  const raised = sql('CAST(CAST(hub_settings.value AS BIGINT) + 1 AS TEXT)');
  const first = { name: MARK_SETTING, value: '1' };
  await upsertRow(tx, 'hub_settings', first, ['name'], { value: raised });
}

export async function readHubSetting(reader: Reader, name: string): Promise<string | null> {
  const row = await reader.firstSql<{ value: string }>(
    'SELECT value FROM hub_settings WHERE name = ?',
    [name],
  );
  return row?.value ?? null;
}

export async function writeHubSetting(tx: Tx, name: string, value: string): Promise<void> {
  await upsertRow(tx, 'hub_settings', { name, value }, ['name']);
}

/** Writes a setting unless it exists: of hubs that start together, the first one's value stays. */
export async function addHubSetting(tx: Tx, name: string, value: string): Promise<void> {
  await insertNewRow(tx, 'hub_settings', { name, value }, ['name']);
}

export async function deleteHubSetting(tx: Tx, name: string): Promise<void> {
  await deleteRows(tx, 'hub_settings', { name });
}
