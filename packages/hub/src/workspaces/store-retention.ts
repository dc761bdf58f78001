import type { Reader } from '../db/engine.ts';

/** Workspaces that keep content from outside for so many days only. */
export function listRetainingWorkspaces(
  reader: Reader,
): Promise<{ workspaceId: string; retentionDays: number }[]> {
  return reader.allSql(
    `SELECT workspace_id AS "workspaceId", retention_days AS "retentionDays" FROM workspaces
     WHERE retention_days IS NOT NULL ORDER BY workspace_id`,
    [],
  );
}
