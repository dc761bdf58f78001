/** An announced upload; `object_key` names its bytes once they have all arrived. */
export interface UploadsTable {
  workspace_id: string;
  upload_id: string;
  file_name: string;
  content_type: string;
  /** As announced; the bytes fit it exactly. */
  size_bytes: number;
  /** Lower-case hex: as announced (or null) while pending, of the bytes once stored. */
  sha256: string | null;
  status: 'pending' | 'stored';
  object_key: string | null;
  created_by: string;
  /** The job whose tool sent it, and its run; null for everybody else. */
  job_id: string | null;
  run_id: string | null;
  created_at: number;
  /** Until when its bytes may be sent. */
  expires_at: number;
  stored_at: number | null;
}

/**
 * Objects of the byte store that no stored upload names (yet). A row is written before the store
 * is touched, so that nothing in the store is ever unknown to the database, whatever crashes.
 */
export interface UploadObjectsTable {
  workspace_id: string;
  object_key: string;
  upload_id: string;
  created_at: number;
}

/**
 * The text of a document, made once for the same bytes read as the same format. The text itself is
 * the context item's, where the workspace's data policy holds.
 */
export interface UploadExtractsTable {
  workspace_id: string;
  /** SHA-256 of the bytes. */
  content_hash: string;
  format: string;
  /** The first upload that brought these bytes. */
  upload_id: string;
  status: 'pending' | 'done' | 'failed';
  /** Why it failed, a stable word. */
  reason: string | null;
  attempts: number;
  /** When the next attempt may begin; an attempt under way has moved it past its own end. */
  available_at: number;
  /** 1: the document holds more than was kept. */
  truncated: 0 | 1;
  /** Null when the document holds no words. */
  context_item_id: string | null;
  created_at: number;
  finished_at: number | null;
}

export interface UploadSchema {
  uploads: UploadsTable;
  upload_objects: UploadObjectsTable;
  upload_extracts: UploadExtractsTable;
}
