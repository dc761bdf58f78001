import { callHub } from './hub-call.ts';

/**
 * Saves an uploaded file. Its signed URL is a download, which no page shows.
 *
 * @param ref with `jobId`, which evidence gives, the hub refuses an upload of another job.
 */
export async function saveUpload(ref: {
  workspaceId: string;
  jobId?: string;
  uploadId: string;
}): Promise<void> {
  const { downloadUrl, fileName } = await callHub('uploads', 'getDownloadUrl', ref);
  const link = document.createElement('a');
  link.href = downloadUrl;
  link.download = fileName;
  link.rel = 'noreferrer';
  link.click();
}
