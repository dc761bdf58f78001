import { NO_WORKSPACE } from '../db/engine.ts';
import type { UploadDeps } from './deps.ts';
import { deleteNeverCompleted, deleteObject, listForgottenObjects } from './store.ts';

/** Longer than any upload under way can last after its URL has expired. */
const FORGOTTEN_AFTER_MS = 60 * 60 * 1_000;
const PIECE_MAX = 100;

export interface UploadRetentionResult {
  uploads: number;
  objects: number;
}

/** Clears away uploads that were never completed and objects that belong to none. */
export async function clearForgottenUploads({
  database,
  byteStore,
  clock,
}: UploadDeps): Promise<UploadRetentionResult> {
  const beforeMs = clock.nowMs() - FORGOTTEN_AFTER_MS;
  const uploads = await database.write(NO_WORKSPACE, (tx) =>
    deleteNeverCompleted(tx, { expiresAtMs: beforeMs, limit: PIECE_MAX }),
  );
  const before = { createdAtMs: beforeMs, limit: PIECE_MAX };
  const objects = await listForgottenObjects(database.reader, before);
  for (const object of objects) {
    // Bytes first: a crash between leaves the note, and the next piece deletes nothing twice.
    await byteStore.delete(object.object_key);
    await database.write(object.workspace_id, (tx) => deleteObject(tx, object));
  }
  return { uploads, objects: objects.length };
}

/** Whether the next piece should follow at once. */
export function hasMoreForgotten({ uploads, objects }: UploadRetentionResult): boolean {
  return uploads === PIECE_MAX || objects === PIECE_MAX;
}
