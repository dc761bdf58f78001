import type { KeptRead, Reader, Tx } from '../db/engine.ts';
import { firstKept } from '../db/kept-reads.ts';
import { insertRow, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { WorkspacesTable } from '../db/schema/tables.ts';

export type WorkspaceRow = WorkspacesTable;

/** The columns of a pause, the same of a workspace and a repository. */
export type PauseColumns = Pick<
  WorkspacesTable,
  'queue_paused_at' | 'queue_paused_by' | 'queue_pause_reason'
>;

export const notPaused: PauseColumns = {
  queue_paused_at: null,
  queue_paused_by: null,
  queue_pause_reason: null,
};

const workspaceById: KeptRead = {
  sql: `SELECT ${allColumns.workspaces} FROM workspaces WHERE workspace_id = ?`,
  sources: ['workspaces'],
};

export function readWorkspace(
  reader: Reader,
  workspaceId: string,
): Promise<Readonly<WorkspaceRow> | undefined> {
  return firstKept<WorkspaceRow>(reader, workspaceById, [workspaceId]);
}

export function readWorkspaceBySlug(
  reader: Reader,
  slug: string,
): Promise<WorkspaceRow | undefined> {
  return reader.firstSql<WorkspaceRow>(
    `SELECT ${allColumns.workspaces} FROM workspaces WHERE slug = ?`,
    [slug],
  );
}

/** The workspaces with these ids, ordered by name. */
export function listWorkspaces(
  reader: Reader,
  workspaceIds: readonly string[],
): Promise<WorkspaceRow[]> {
  return reader.allSql<WorkspaceRow>(
    `SELECT ${allColumns.workspaces} FROM workspaces WHERE workspace_id IN (SELECT value FROM json_each(?))
     ORDER BY name, slug`,
    [JSON.stringify(workspaceIds)],
  );
}

/** All workspaces of the hub, for its operator. */
export function listAllWorkspaces(reader: Reader): Promise<WorkspaceRow[]> {
  return reader.allSql<WorkspaceRow>(
    `SELECT ${allColumns.workspaces} FROM workspaces ORDER BY slug`,
    [],
  );
}

/** The workspaces that delete inbound content after a number of days. */
export function listRetainingWorkspaces(
  reader: Reader,
): Promise<{ workspaceId: string; retentionDays: number }[]> {
  return reader.allSql(
    `SELECT workspace_id AS "workspaceId", retention_days AS "retentionDays" FROM workspaces
     WHERE retention_days IS NOT NULL ORDER BY workspace_id`,
    [],
  );
}

/** A person who is in a meeting answers within it. */
const ASK_OWNERS_AFTER_MINUTES = 15;

/** Adds a workspace with the default data policy. The caller has checked that the slug is free. */
export async function insertWorkspace(
  tx: Tx,
  draft: Pick<WorkspaceRow, 'workspace_id' | 'slug' | 'name' | 'created_by_operator'>,
): Promise<WorkspaceRow> {
  const row: WorkspaceRow = {
    ...draft,
    created_at: tx.nowMs,
    content_storage: 'full',
    retention_days: null,
    redact_secrets: 1,
    ask_owners_after_minutes: ASK_OWNERS_AFTER_MINUTES,
    ...notPaused,
  };
  insertRow(tx, 'workspaces', row);
  return row;
}

/** Writes some columns of a workspace. */
export async function updateWorkspace(
  tx: Tx,
  workspaceId: string,
  changes: Partial<WorkspaceRow>,
): Promise<void> {
  await updateRows(tx, 'workspaces', { workspace_id: workspaceId }, changes);
}

/** Pauses the queues of all workspaces that are not paused. */
export async function pauseAllWorkspaces(tx: Tx, by: string, reason: string): Promise<void> {
  await updateRows(
    tx,
    'workspaces',
    { queue_paused_at: null },
    { queue_paused_at: tx.nowMs, queue_paused_by: by, queue_pause_reason: reason },
  );
}
