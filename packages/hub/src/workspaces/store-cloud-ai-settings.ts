import type { Reader, Tx } from '../db/engine.ts';
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
  await tx.runSql(
    `INSERT INTO cloud_ai_settings
       (workspace_id, summarize_sources, draft_decision_answers, model)
     VALUES (?, ?, ?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET summarize_sources = excluded.summarize_sources,
       draft_decision_answers = excluded.draft_decision_answers, model = excluded.model`,
    [row.workspace_id, row.summarize_sources, row.draft_decision_answers, row.model],
  );
}
