import type { Reader } from '../db/engine.ts';
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
