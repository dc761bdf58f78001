import type { Reader, Tx } from '../db/engine.ts';
import type { ContextPackItemsTable, ContextPacksTable } from '../db/schema/context.ts';
import type { RunsTable } from '../db/schema/tables.ts';

export type PackRow = ContextPacksTable;
export type PackItemRow = ContextPackItemsTable;

/** What is read of a run: its goal and title say what is relevant to it. */
export type RunTopic = Pick<RunsTable, 'run_id' | 'run_ref'> & {
  title?: string | null;
  goal?: string | null;
};

/** Of a prompt, enough to know its subject by. */
const PROMPT_CHARS = 4_000;

export function readRunTopic(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<RunTopic | undefined> {
  return reader.firstSql<RunTopic>('SELECT * FROM runs WHERE workspace_id = ? AND run_id = ?', [
    workspaceId,
    runId,
  ]);
}

/** What the run's latest jobs were asked to do, latest first. */
export async function listRecentPrompts(
  reader: Reader,
  workspaceId: string,
  runId: string,
  limit: number,
): Promise<string[]> {
  const rows = await reader.allSql<{ prompt: string }>(
    `SELECT substr(prompt, 1, ${PROMPT_CHARS}) AS prompt FROM jobs
     WHERE workspace_id = ? AND run_id = ? ORDER BY job_id DESC LIMIT ?`,
    [workspaceId, runId, limit],
  );
  return rows.map((row) => row.prompt);
}

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

export async function insertPack(tx: Tx, row: PackRow): Promise<void> {
  await tx.runSql(
    `INSERT INTO context_packs (workspace_id, pack_id, run_id, version, content_hash,
       token_budget, token_estimate, expansion_hints, created_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      row.workspace_id,
      row.pack_id,
      row.run_id,
      row.version,
      row.content_hash,
      row.token_budget,
      row.token_estimate,
      row.expansion_hints,
      row.created_by,
      row.created_at,
    ],
  );
}

/** An item as it was chosen, to be copied as long as it is still the same. */
export interface ChosenItem {
  itemId: string;
  contentHash: string;
  updatedAtMs: number;
  reason: PackItemRow['reason'];
}

/** Copies an item into a pack. False when it was changed or superseded since it was chosen. */
export async function insertPackItem(
  tx: Tx,
  pack: { workspaceId: string; packId: string; position: number },
  chosen: ChosenItem,
): Promise<boolean> {
  const { changes } = await tx.runSql(
    `INSERT INTO context_pack_items (workspace_id, pack_id, position, item_id, reason, kind, title,
       source, source_ref, thread_ref, trust, truncated, tokens, fetched_at, text)
     SELECT workspace_id, ?, ?, item_id, ?, kind, title, source, source_ref, thread_ref, trust,
       truncated, tokens, updated_at, text
     FROM context_items
     WHERE workspace_id = ? AND item_id = ? AND content_hash = ? AND updated_at = ?
       AND superseded_by IS NULL`,
    [
      pack.packId,
      pack.position,
      chosen.reason,
      pack.workspaceId,
      chosen.itemId,
      chosen.contentHash,
      chosen.updatedAtMs,
    ],
  );
  return changes === 1;
}

/** A pack of the run: the one named, or the latest. */
export function readPack(
  reader: Reader,
  workspaceId: string,
  runId: string,
  packId: string | undefined,
): Promise<PackRow | undefined> {
  return packId === undefined
    ? reader.firstSql<PackRow>(
        `SELECT * FROM context_packs WHERE workspace_id = ? AND run_id = ?
         ORDER BY version DESC LIMIT 1`,
        [workspaceId, runId],
      )
    : reader.firstSql<PackRow>(
        'SELECT * FROM context_packs WHERE workspace_id = ? AND pack_id = ? AND run_id = ?',
        [workspaceId, packId, runId],
      );
}

export function listPackItems(
  reader: Reader,
  workspaceId: string,
  packId: string,
): Promise<PackItemRow[]> {
  return reader.allSql<PackItemRow>(
    `SELECT * FROM context_pack_items WHERE workspace_id = ? AND pack_id = ? ORDER BY position`,
    [workspaceId, packId],
  );
}
