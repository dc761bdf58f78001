import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, upsertRow } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { JobTemplatesTable } from '../db/schema/job-templates.ts';

export type TemplateRow = JobTemplatesTable;

/** The templates of a workspace, by name. */
export function listTemplates(reader: Reader, workspaceId: string): Promise<TemplateRow[]> {
  return reader.allSql<TemplateRow>(
    `SELECT ${allColumns.job_templates} FROM job_templates WHERE workspace_id = ? ORDER BY name`,
    [workspaceId],
  );
}

export async function hasTemplate(
  reader: Reader,
  workspaceId: string,
  name: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    'SELECT name FROM job_templates WHERE workspace_id = ? AND name = ?',
    [workspaceId, name],
  );
  return row !== undefined;
}

export async function countTemplates(reader: Reader, workspaceId: string): Promise<number> {
  const row = await reader.firstSql<{ count: number }>(
    'SELECT COUNT(*) AS count FROM job_templates WHERE workspace_id = ?',
    [workspaceId],
  );
  return row?.count ?? 0;
}

export function upsertTemplate(tx: Tx, row: TemplateRow): Promise<void> {
  return upsertRow(tx, 'job_templates', row, ['workspace_id', 'name']);
}

export function deleteTemplate(tx: Tx, workspaceId: string, name: string): Promise<number> {
  return deleteRows(tx, 'job_templates', { workspace_id: workspaceId, name });
}
