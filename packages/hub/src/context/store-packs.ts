import type { EngineName, Reader, Tx } from '../db/engine.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { ContextPackItemsTable, ContextPacksTable } from '../db/schema/context.ts';

export type PackRow = ContextPacksTable;
export type PackItemRow = ContextPackItemsTable;

export async function readNextVersion(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<number> {
  const row = await reader.firstSql<{ version: number }>(
    `SELECT version FROM context_packs WHERE workspace_id = ? AND run_id = ?
     ORDER BY version DESC LIMIT 1`,
    [workspaceId, runId],
  );
  return (row?.version ?? 0) + 1;
}

/** An item as it was selected. It is copied only if it has not changed since. */
export interface ChosenItem {
  position: number;
  itemId: string;
  contentHash: string;
  updatedAtMs: number;
  reason: PackItemRow['reason'];
}

/**
 * The chosen items, from one JSON value, and each as it is now. Both engines look up each item by
 * its key: a table after CROSS JOIN makes SQLite read it last, and OFFSET 0 keeps PostgreSQL from
 * reading all items of the workspace instead, which it does until it has statistics.
 */
const chosenItems: Readonly<Record<EngineName, string>> = {
  sqlite: `(SELECT value ->> 'position' AS position, value ->> 'itemId' AS "itemId",
      value ->> 'contentHash' AS "contentHash", value ->> 'updatedAtMs' AS "updatedAtMs",
      value ->> 'reason' AS reason FROM json_each(?)) AS c
    CROSS JOIN context_items AS i ON i.workspace_id = ? AND i.item_id = c."itemId"`,
  postgres: `json_to_recordset(?::json) AS c(position bigint, "itemId" text, "contentHash" text,
      "updatedAtMs" bigint, reason text)
    CROSS JOIN LATERAL (SELECT ${allColumns.context_items} FROM context_items
      WHERE workspace_id = ? AND item_id = c."itemId" OFFSET 0) AS i`,
};

/**
 * Copies items into a pack with one statement, however many they are. Returns how many were copied:
 * those that were changed or superseded since their selection are not.
 */
export async function copyItemsIntoPack(
  tx: Tx,
  pack: { workspaceId: string; packId: string },
  chosen: readonly ChosenItem[],
): Promise<number> {
  const { changes } = await tx.runSql(
    `INSERT INTO context_pack_items (workspace_id, pack_id, position, item_id, reason, kind, title,
       source, source_ref, thread_ref, trust, truncated, tokens, fetched_at, text)
     SELECT i.workspace_id, ?, c.position, i.item_id, c.reason, i.kind, i.title, i.source,
       i.source_ref, i.thread_ref, i.trust, i.truncated, i.tokens, i.updated_at, i.text
     FROM ${chosenItems[tx.engine]}
     WHERE i.content_hash = c."contentHash" AND i.updated_at = c."updatedAtMs"
       AND i.superseded_by IS NULL`,
    [pack.packId, JSON.stringify(chosen), pack.workspaceId],
    { verb: 'insert', table: 'context_pack_items' },
  );
  return changes;
}

/** Reads a pack of the run: the one with the given id, or the latest. */
export function readPack(
  reader: Reader,
  workspaceId: string,
  runId: string,
  packId: string | undefined,
): Promise<PackRow | undefined> {
  return packId === undefined
    ? reader.firstSql<PackRow>(
        `SELECT ${allColumns.context_packs} FROM context_packs WHERE workspace_id = ? AND run_id = ?
         ORDER BY version DESC LIMIT 1`,
        [workspaceId, runId],
      )
    : reader.firstSql<PackRow>(
        `SELECT ${allColumns.context_packs} FROM context_packs WHERE workspace_id = ? AND pack_id = ? AND run_id = ?`,
        [workspaceId, packId, runId],
      );
}

/** The packs of a run with the number of their items, newest first. */
export function listPacks(
  reader: Reader,
  workspaceId: string,
  runId: string,
  limit: number,
): Promise<(PackRow & { items: number })[]> {
  return reader.allSql<PackRow & { items: number }>(
    `SELECT ${columnsOf('p', 'context_packs')}, (SELECT COUNT(*) FROM context_pack_items i
       WHERE i.workspace_id = p.workspace_id AND i.pack_id = p.pack_id) AS items
     FROM context_packs p WHERE p.workspace_id = ? AND p.run_id = ?
     ORDER BY p.version DESC LIMIT ?`,
    [workspaceId, runId, limit],
  );
}

export function listPackItems(
  reader: Reader,
  workspaceId: string,
  packId: string,
): Promise<PackItemRow[]> {
  return reader.allSql<PackItemRow>(
    `SELECT ${allColumns.context_pack_items} FROM context_pack_items
     WHERE workspace_id = ? AND pack_id = ? ORDER BY position`,
    [workspaceId, packId],
  );
}
