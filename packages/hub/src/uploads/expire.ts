import { forgetItem } from '../context/add-item.ts';
import type { Tx } from '../db/engine.ts';
import { listRetainingWorkspaces } from '../workspaces/store.ts';
import type { UploadDeps } from './deps.ts';
import { deleteExtractsOf, moveExtracts } from './extraction/store.ts';
import { deleteUpload, insertObject, listStoredBefore, readOtherWithBytes } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Uploads of a workspace that one action takes away: a few milliseconds. */
const PIECE_MAX = 50;

/**
 * Takes away uploads past the retention of their workspace, with the texts made of them. The bytes
 * are noted as belonging to none in the same action, and go as whatever else is forgotten.
 *
 * @returns how many, and whether there may be more.
 */
export async function retireOldUploads({
  database,
  clock,
}: Pick<UploadDeps, 'database' | 'clock'>): Promise<{ retired: number; hasMore: boolean }> {
  let retired = 0;
  let hasMore = false;
  for (const { workspaceId, retentionDays } of await listRetainingWorkspaces(database.reader)) {
    const before = { storedAtMs: clock.nowMs() - retentionDays * DAY_MS, limit: PIECE_MAX };
    const due = await listStoredBefore(database.reader, workspaceId, { ...before, limit: 1 });
    if (due.length === 0) continue;
    const piece = await database.write(workspaceId, (tx) => retirePiece(tx, workspaceId, before));
    retired += piece;
    hasMore ||= piece === PIECE_MAX;
  }
  return { retired, hasMore };
}

async function retirePiece(
  tx: Tx,
  workspaceId: string,
  before: { storedAtMs: number; limit: number },
): Promise<number> {
  const uploads = await listStoredBefore(tx, workspaceId, before);
  for (const upload of uploads) {
    const { upload_id, object_key, sha256 } = upload;
    const other = await readOtherWithBytes(tx, upload);
    if (other !== undefined) {
      await moveExtracts(tx, upload, other.upload_id);
    } else {
      for (const itemId of await deleteExtractsOf(tx, workspaceId, sha256)) {
        await forgetItem(tx, workspaceId, itemId);
      }
    }
    await insertObject(tx, { workspace_id: workspaceId, object_key, upload_id });
    await deleteUpload(tx, workspaceId, upload_id);
  }
  return uploads.length;
}
