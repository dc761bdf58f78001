import type { Reader, Tx } from '../db/engine.ts';
import { upsertRow } from '../db/row-write.ts';
import type { CloudAiSettingsTable } from '../db/schema/cloud-ai-jobs.ts';
import { allColumns } from '../db/schema/columns.ts';

export type CloudAiSettingsRow = CloudAiSettingsTable;

export function readCloudAiSettingsRow(
  reader: Reader,
  workspaceId: string,
): Promise<CloudAiSettingsRow | undefined> {
  return reader.firstSql<CloudAiSettingsRow>(
    `SELECT ${allColumns.cloud_ai_settings} FROM cloud_ai_settings WHERE workspace_id = ?`,
    [workspaceId],
  );
}

export async function putCloudAiSettingsRow(tx: Tx, row: CloudAiSettingsRow): Promise<void> {
  await upsertRow(tx, 'cloud_ai_settings', row, ['workspace_id']);
}
