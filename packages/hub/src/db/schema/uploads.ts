import { type Flag, keyedTable, of, type RowOf } from './table.ts';

/** An announced upload; `object_key` names its bytes once all of them have arrived. */
const uploads = keyedTable('workspace_id, upload_id', {
  workspace_id: 'TEXT NOT NULL',
  upload_id: 'TEXT NOT NULL',
  file_name: 'TEXT NOT NULL',
  content_type: 'TEXT NOT NULL',
  /** As announced; an upload of another size is refused. */
  size_bytes: 'BIGINT NOT NULL',
  /** Lower-case hex: as announced, or null, while pending; of the bytes once stored. */
  sha256: 'TEXT',
  status: of<'pending' | 'stored'>('TEXT NOT NULL'),
  object_key: 'TEXT',
  created_by: 'TEXT NOT NULL',
  /** The job whose tool sent it, and its run; null for other senders. */
  job_id: 'TEXT',
  run_id: 'TEXT',
  created_at: 'BIGINT NOT NULL',
  /** Until when the bytes may be sent. */
  expires_at: 'BIGINT NOT NULL',
  stored_at: 'BIGINT',
});
export type UploadsTable = RowOf<typeof uploads>;

/** An upload that a job gives to its tool. It lives as long as the job. */
const upload_attachments = keyedTable('workspace_id, job_id, upload_id', {
  workspace_id: 'TEXT NOT NULL',
  job_id: 'TEXT NOT NULL',
  upload_id: 'TEXT NOT NULL',
});
export type UploadAttachmentsTable = RowOf<typeof upload_attachments>;

/**
 * Objects of the byte store that no stored upload names, or not yet. The row is written before the
 * object, so that the database knows every object of the store, even after a crash.
 */
const upload_objects = keyedTable('workspace_id, object_key', {
  workspace_id: 'TEXT NOT NULL',
  object_key: 'TEXT NOT NULL',
  upload_id: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
});
export type UploadObjectsTable = RowOf<typeof upload_objects>;

/**
 * The extracted text of a document, made once for the same bytes in the same format. The text
 * itself is stored in the context item, under the workspace's data policy.
 */
const upload_extracts = keyedTable('workspace_id, content_hash, format', {
  workspace_id: 'TEXT NOT NULL',
  /** SHA-256 of the bytes. */
  content_hash: 'TEXT NOT NULL',
  format: 'TEXT NOT NULL',
  /** The first upload with these bytes. */
  upload_id: 'TEXT NOT NULL',
  status: of<'pending' | 'done' | 'failed'>('TEXT NOT NULL'),
  /** Why the extraction failed, as a stable code. */
  reason: 'TEXT',
  attempts: 'INTEGER NOT NULL',
  /** When the next attempt may begin; an attempt in progress has moved it past its own end. */
  available_at: 'BIGINT NOT NULL',
  /** 1: the document has more text than was stored. */
  truncated: of<Flag>('INTEGER NOT NULL'),
  /** Null if the document has no text. */
  context_item_id: 'TEXT',
  created_at: 'BIGINT NOT NULL',
  finished_at: 'BIGINT',
});
export type UploadExtractsTable = RowOf<typeof upload_extracts>;

/**
 * The counted bytes and the number of a workspace's uploads, and of those of each job. An upload
 * counts as at least 4 KB, so that empty ones are bounded too.
 */
const upload_usage = keyedTable('workspace_id, job_id', {
  workspace_id: 'TEXT NOT NULL',
  /** Empty for the whole workspace. */
  job_id: 'TEXT NOT NULL',
  size_bytes: 'BIGINT NOT NULL',
  upload_count: 'BIGINT NOT NULL',
});

export const uploadTables = {
  uploads,
  upload_attachments,
  upload_objects,
  upload_extracts,
  upload_usage,
};

export const uploadIndexes = [
  `CREATE INDEX uploads_pending ON uploads (expires_at) WHERE status = 'pending'`,
  'CREATE INDEX uploads_by_age ON uploads (workspace_id, stored_at) WHERE stored_at IS NOT NULL',
  'CREATE INDEX uploads_by_content ON uploads (workspace_id, sha256) WHERE sha256 IS NOT NULL',
  `CREATE INDEX upload_attachments_by_upload
    ON upload_attachments (workspace_id, upload_id)`,
  'CREATE INDEX upload_objects_by_age ON upload_objects (created_at)',
  `CREATE INDEX upload_extracts_pending ON upload_extracts (available_at)
    WHERE status = 'pending'`,
  `CREATE INDEX upload_extracts_by_age ON upload_extracts (workspace_id, finished_at)
    WHERE finished_at IS NOT NULL`,
];
