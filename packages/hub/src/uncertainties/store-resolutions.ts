import type { Reader, Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { ResolutionsTable } from '../db/schema/uncertainties.ts';

export type ResolutionRow = ResolutionsTable;

/** Appends a resolution to those of its uncertainty, and returns it. */
export async function appendResolution(
  tx: Tx,
  draft: Omit<ResolutionRow, 'seq'>,
): Promise<ResolutionRow> {
  const last = await tx.firstSql<{ seq: number | null }>(
    'SELECT MAX(seq) AS seq FROM resolutions WHERE workspace_id = ? AND uncertainty_id = ?',
    [draft.workspace_id, draft.uncertainty_id],
  );
  const row = { ...draft, seq: (last?.seq ?? 0) + 1 };
  insertRow(tx, 'resolutions', row);
  return row;
}

/** The resolution that is valid: the last one. */
export function readResolution(
  reader: Reader,
  workspaceId: string,
  uncertaintyId: string,
): Promise<ResolutionRow | undefined> {
  return reader.firstSql<ResolutionRow>(
    `SELECT ${allColumns.resolutions} FROM resolutions WHERE workspace_id = ? AND uncertainty_id = ?
     ORDER BY seq DESC LIMIT 1`,
    [workspaceId, uncertaintyId],
  );
}

/** The columns that a list shows of a resolution. */
export type ResolutionSummaryRow = Pick<
  ResolutionRow,
  'uncertainty_id' | 'mode' | 'created_by' | 'is_held'
> & { beginning: string };

/** The resolutions of some uncertainties, in order for each, without their long texts. */
export function listResolutionSummaries(
  reader: Reader,
  workspaceId: string,
  uncertaintyIds: readonly string[],
): Promise<ResolutionSummaryRow[]> {
  return reader.allSql(
    `SELECT uncertainty_id, mode, created_by, is_held, substr(value, 1, 2000) AS beginning
     FROM resolutions
     WHERE workspace_id = ? AND uncertainty_id IN (SELECT value FROM json_each(?))
     ORDER BY uncertainty_id, seq`,
    [workspaceId, JSON.stringify(uncertaintyIds)],
  );
}

/** The resolutions of some uncertainties, in order for each. */
export async function listResolutions(
  reader: Reader,
  workspaceId: string,
  uncertaintyIds: readonly string[],
): Promise<ResolutionRow[]> {
  if (uncertaintyIds.length === 0) return [];
  return reader.allSql(
    `SELECT ${allColumns.resolutions} FROM resolutions
     WHERE workspace_id = ? AND uncertainty_id IN (SELECT value FROM json_each(?))
     ORDER BY uncertainty_id, seq`,
    [workspaceId, JSON.stringify(uncertaintyIds)],
  );
}
