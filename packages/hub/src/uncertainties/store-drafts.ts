import type { Tx } from '../db/engine.ts';

/**
 * Gives an open decision request a recommendation, unless the asker has given one.
 * @returns whether it was taken.
 */
export async function recommendValue(
  tx: Tx,
  workspaceId: string,
  uncertaintyId: string,
  value: string,
): Promise<boolean> {
  const { changes } = await tx.runSql(
    `UPDATE uncertainties SET recommended_value = ?
     WHERE workspace_id = ? AND uncertainty_id = ? AND status = 'open'
       AND recommended_value IS NULL`,
    [value, workspaceId, uncertaintyId],
  );
  return changes > 0;
}
