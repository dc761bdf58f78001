import type { UploadSummary } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import type { UploadRow } from './store.ts';

/** @param creatorName the name of the person who created it. */
export function presentUpload(row: UploadRow, creatorName: string | null): UploadSummary {
  return {
    uploadId: row.upload_id,
    workspaceId: row.workspace_id,
    fileName: row.file_name,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    status: row.status,
    createdBy: { id: row.created_by, name: creatorName },
    jobId: row.job_id,
    createdAt: timestampOf(row.created_at),
    storedAt: nullableTimestampOf(row.stored_at),
  };
}
