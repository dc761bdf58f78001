import type { Database, Reader, Tx } from '../db/engine.ts';
import type { ResolutionsTable } from '../db/schema/uncertainties.ts';

export type ResolutionRow = ResolutionsTable;

/** Appends a resolution to those of its uncertainty, and returns it. */
export async function appendResolution(
  database: Database,
  tx: Tx,
  draft: Omit<ResolutionRow, 'seq'>,
): Promise<ResolutionRow> {
  const last = await tx.firstSql<{ seq: number | null }>(
    'SELECT MAX(seq) AS seq FROM resolutions WHERE workspace_id = ? AND uncertainty_id = ?',
    [draft.workspace_id, draft.uncertainty_id],
  );
  const row = { ...draft, seq: (last?.seq ?? 0) + 1 };
  await tx.run(database.build.insertInto('resolutions').values(row));
  return row;
}

/** The resolution that is valid: the last one. */
export function readResolution(
  reader: Reader,
  workspaceId: string,
  uncertaintyId: string,
): Promise<ResolutionRow | undefined> {
  return reader.firstSql<ResolutionRow>(
    `SELECT * FROM resolutions WHERE workspace_id = ? AND uncertainty_id = ?
     ORDER BY seq DESC LIMIT 1`,
    [workspaceId, uncertaintyId],
  );
}

/** The resolutions of some uncertainties, in order for each. */
export async function listResolutions(
  database: Database,
  reader: Reader,
  workspaceId: string,
  uncertaintyIds: readonly string[],
): Promise<ResolutionRow[]> {
  if (uncertaintyIds.length === 0) return [];
  return reader.all(
    database.build
      .selectFrom('resolutions')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('uncertainty_id', 'in', uncertaintyIds)
      .orderBy('uncertainty_id')
      .orderBy('seq'),
  );
}
