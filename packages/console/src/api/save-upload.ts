import { callHub } from './hub-call.ts';

/**
 * Saves a file that the tool of a job has uploaded. Its signed URL is a download, which no page
 * shows. The evidence names the upload, and the hub refuses one of another job.
 */
export async function saveUpload(ref: {
  workspaceId: string;
  jobId: string;
  uploadId: string;
}): Promise<void> {
  const { downloadUrl, fileName } = await callHub('uploads', 'getDownloadUrl', ref);
  const link = document.createElement('a');
  link.href = downloadUrl;
  link.download = fileName;
  link.rel = 'noreferrer';
  link.click();
}
