import { deleteContextItem } from '../context/expire-items.ts';
import { NO_WORKSPACE, type Tx } from '../db/engine.ts';
import { deleteRows } from '../db/row-write.ts';
import { listRetainingWorkspaces } from '../workspaces/store.ts';
import type { UploadDeps } from './deps.ts';
import { deleteExtractsOf, moveExtracts } from './extraction/store.ts';
import {
  deleteObject,
  deleteUnfinishedUploads,
  type ExpiringUpload,
  insertObject,
  listLeftoverObjects,
  listStoredBefore,
  readOtherWithBytes,
} from './store.ts';
import { removeUsage } from './usage.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Uploads of a workspace that one transaction deletes: a few milliseconds. */
const EXPIRED_BATCH_MAX = 50;
/** Longer than any upload can continue after its URL has expired. */
const LEFTOVER_AFTER_MS = 60 * 60 * 1_000;
const LEFTOVER_BATCH_MAX = 100;

export interface UploadRetentionResult {
  /** Uploads past the retention of their workspace. */
  expired: number;
  /** Uploads that were never completed. */
  unfinished: number;
  /** Objects of the byte store that belong to no upload. */
  objects: number;
  hasMore: boolean;
}

/** Deletes a batch of uploads past retention, of unfinished uploads, and of leftover objects. */
export async function expireUploads(deps: UploadDeps): Promise<UploadRetentionResult> {
  const { expired, hasMore } = await deleteOldUploads(deps);
  const { unfinished, objects } = await deleteLeftovers(deps);
  const hasMoreLeftovers = unfinished === LEFTOVER_BATCH_MAX || objects === LEFTOVER_BATCH_MAX;
  return { expired, unfinished, objects, hasMore: hasMore || hasMoreLeftovers };
}

async function deleteOldUploads({
  database,
  clock,
}: UploadDeps): Promise<{ expired: number; hasMore: boolean }> {
  let expired = 0;
  let hasMore = false;
  for (const { workspaceId, retentionDays } of await listRetainingWorkspaces(database.reader)) {
    const before = { storedAtMs: clock.nowMs() - retentionDays * DAY_MS, limit: EXPIRED_BATCH_MAX };
    const due = await listStoredBefore(database.reader, workspaceId, { ...before, limit: 1 });
    if (due.length === 0) continue;
    const deleted = await database.write(workspaceId, (tx) => deleteBatch(tx, workspaceId, before));
    expired += deleted;
    hasMore ||= deleted === EXPIRED_BATCH_MAX;
  }
  return { expired, hasMore };
}

async function deleteBatch(
  tx: Tx,
  workspaceId: string,
  before: { storedAtMs: number; limit: number },
): Promise<number> {
  const uploads = await listStoredBefore(tx, workspaceId, before);
  for (const upload of uploads) await deleteUploadWithTexts(tx, upload);
  return uploads.length;
}

/**
 * Deletes an upload with the texts extracted from it, unless another upload has the same bytes.
 * Records its object as leftover in the same transaction, so that the bytes are deleted later.
 */
export async function deleteUploadWithTexts(tx: Tx, upload: ExpiringUpload): Promise<void> {
  const { workspace_id: workspaceId, upload_id, object_key, sha256 } = upload;
  if (object_key !== null && sha256 !== null) {
    const other = await readOtherWithBytes(tx, { ...upload, sha256 });
    if (other !== undefined) {
      await moveExtracts(tx, { ...upload, sha256 }, other.upload_id);
    } else {
      for (const itemId of await deleteExtractsOf(tx, workspaceId, sha256)) {
        await deleteContextItem(tx, workspaceId, itemId);
      }
    }
    await insertObject(tx, { workspace_id: workspaceId, object_key, upload_id });
  }
  await removeUsage(tx, [upload]);
  await deleteRows(tx, 'uploads', { workspace_id: workspaceId, upload_id });
}

/** Deletes uploads that were never completed and objects that belong to no upload. */
async function deleteLeftovers({
  database,
  byteStore,
  clock,
}: UploadDeps): Promise<{ unfinished: number; objects: number }> {
  const beforeMs = clock.nowMs() - LEFTOVER_AFTER_MS;
  const unfinished = await database.write(NO_WORKSPACE, async (tx) => {
    const before = { expiresAtMs: beforeMs, limit: LEFTOVER_BATCH_MAX };
    const deleted = await deleteUnfinishedUploads(tx, before);
    await removeUsage(tx, deleted);
    return deleted.length;
  });
  const before = { createdAtMs: beforeMs, limit: LEFTOVER_BATCH_MAX };
  const objects = await listLeftoverObjects(database.reader, before);
  for (const object of objects) {
    // Bytes first. After a crash in between, the record remains and the next batch repeats both.
    await byteStore.delete(object.object_key);
    await database.write(object.workspace_id, (tx) => deleteObject(tx, object));
  }
  return { unfinished, objects: objects.length };
}
