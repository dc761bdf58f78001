import type { EngineName } from '../engine.ts';

/** Uploads, objects that are being added to or deleted from the byte store, extracted texts. */
export function uploads(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
    `CREATE TABLE uploads (
      workspace_id TEXT NOT NULL,
      upload_id TEXT NOT NULL,
      file_name TEXT NOT NULL,
      content_type TEXT NOT NULL,
      size_bytes BIGINT NOT NULL,
      sha256 TEXT,
      status TEXT NOT NULL,
      object_key TEXT,
      created_by TEXT NOT NULL,
      job_id TEXT,
      run_id TEXT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      stored_at BIGINT,
      PRIMARY KEY (workspace_id, upload_id)
    )${keyed}`,
    `CREATE INDEX uploads_pending ON uploads (expires_at) WHERE status = 'pending'`,
    `CREATE TABLE upload_objects (
      workspace_id TEXT NOT NULL,
      object_key TEXT NOT NULL,
      upload_id TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, object_key)
    )${keyed}`,
    'CREATE INDEX upload_objects_by_age ON upload_objects (created_at)',
    `CREATE TABLE upload_extracts (
      workspace_id TEXT NOT NULL,
      content_hash TEXT NOT NULL,
      format TEXT NOT NULL,
      upload_id TEXT NOT NULL,
      status TEXT NOT NULL,
      reason TEXT,
      attempts INTEGER NOT NULL,
      available_at BIGINT NOT NULL,
      truncated INTEGER NOT NULL,
      context_item_id TEXT,
      created_at BIGINT NOT NULL,
      finished_at BIGINT,
      PRIMARY KEY (workspace_id, content_hash, format)
    )${keyed}`,
    `CREATE INDEX upload_extracts_pending ON upload_extracts (available_at)
      WHERE status = 'pending'`,
  ];
}
