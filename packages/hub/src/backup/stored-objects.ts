import { listSealedParts } from '../archive/store-parts.ts';
import type { Reader } from '../db/engine.ts';
import { archivePath, uploadPath } from '../uploads/deps.ts';
import { isUploadStored, listStoredUploads } from '../uploads/store.ts';

/** Rows read at a time. */
const STEP_ROWS = 500;

/** A file that the database promises: the bytes of an upload, or a part of the archive. */
interface StoredObject {
  /** Path within the data directory. */
  path: string;
  sizeBytes: number;
  sha256: string;
  /** For sentences, such as `upload upl_… (plan.pdf)`. */
  name: string;
  /** Whether the database still promises it: retention may have deleted it meanwhile. */
  isStillStored(reader: Reader): Promise<boolean>;
}

/** Lists all objects that a database promises, in steps. */
export async function* listStoredObjects(reader: Reader): AsyncGenerator<StoredObject> {
  yield* listUploads(reader);
  yield* listParts(reader);
}

async function* listUploads(reader: Reader): AsyncGenerator<StoredObject> {
  let after = { workspaceId: '', id: '' };
  for (;;) {
    const rows = await listStoredUploads(reader, after, STEP_ROWS);
    for (const row of rows) {
      yield {
        path: uploadPath(row.object_key),
        sizeBytes: row.size_bytes,
        sha256: row.sha256,
        name: `upload ${row.upload_id} (${row.file_name})`,
        isStillStored: (now) => isUploadStored(now, row.workspace_id, row.upload_id),
      };
      after = { workspaceId: row.workspace_id, id: row.upload_id };
    }
    if (rows.length < STEP_ROWS) return;
  }
}

async function* listParts(reader: Reader): AsyncGenerator<StoredObject> {
  let after = { workspaceId: '', key: '' };
  for (;;) {
    const rows = await listSealedParts(reader, after, STEP_ROWS);
    for (const row of rows) {
      yield {
        path: archivePath(row.object_key),
        sizeBytes: row.size_bytes,
        sha256: row.sha256,
        name: `archive file ${row.object_key}`,
        // Nothing deletes a sealed file.
        isStillStored: async () => true,
      };
      after = { workspaceId: row.workspace_id, key: row.object_key };
    }
    if (rows.length < STEP_ROWS) return;
  }
}
