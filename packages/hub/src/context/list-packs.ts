import { RUN_PACKS_MAX, type RunPack } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import type { Reader } from '../db/engine.ts';
import { listPacks } from './store-packs.ts';

/** The latest packs of a run, newest first, for its overview. */
export async function listPacksOfRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<RunPack[]> {
  const rows = await listPacks(reader, workspaceId, runId, RUN_PACKS_MAX);
  return rows.map((row) => ({
    packId: row.pack_id,
    version: row.version,
    items: row.items,
    tokenEstimate: row.token_estimate,
    createdAt: timestampOf(row.created_at),
  }));
}
