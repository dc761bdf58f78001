/** An announced upload; `object_key` names its bytes once all of them have arrived. */
export interface UploadsTable {
  workspace_id: string;
  upload_id: string;
  file_name: string;
  content_type: string;
  /** As announced; an upload of another size is refused. */
  size_bytes: number;
  /** Lower-case hex: as announced, or null, while pending; of the bytes once stored. */
  sha256: string | null;
  status: 'pending' | 'stored';
  object_key: string | null;
  created_by: string;
  /** The job whose tool sent it, and its run; null for other senders. */
  job_id: string | null;
  run_id: string | null;
  created_at: number;
  /** Until when the bytes may be sent. */
  expires_at: number;
  stored_at: number | null;
}

/**
 * Objects of the byte store that no stored upload names, or not yet. The row is written before the
 * object, so that the database knows every object of the store, even after a crash.
 */
export interface UploadObjectsTable {
  workspace_id: string;
  object_key: string;
  upload_id: string;
  created_at: number;
}

/**
 * The extracted text of a document, made once for the same bytes in the same format. The text
 * itself is stored in the context item, under the workspace's data policy.
 */
export interface UploadExtractsTable {
  workspace_id: string;
  /** SHA-256 of the bytes. */
  content_hash: string;
  format: string;
  /** The first upload with these bytes. */
  upload_id: string;
  status: 'pending' | 'done' | 'failed';
  /** Why the extraction failed, as a stable code. */
  reason: string | null;
  attempts: number;
  /** When the next attempt may begin; an attempt in progress has moved it past its own end. */
  available_at: number;
  /** 1: the document has more text than was stored. */
  truncated: 0 | 1;
  /** Null if the document has no text. */
  context_item_id: string | null;
  created_at: number;
  finished_at: number | null;
}

/** The counted bytes and the number of a workspace's uploads, and of those of each job. */
export interface UploadUsageTable {
  workspace_id: string;
  /** Empty for the whole workspace. */
  job_id: string;
  size_bytes: number;
  upload_count: number;
}

/** An upload that a job gives to its tool. */
export interface UploadAttachmentsTable {
  workspace_id: string;
  job_id: string;
  upload_id: string;
}

export interface UploadSchema {
  uploads: UploadsTable;
  upload_attachments: UploadAttachmentsTable;
  upload_objects: UploadObjectsTable;
  upload_extracts: UploadExtractsTable;
  upload_usage: UploadUsageTable;
}
