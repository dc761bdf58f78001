import { callHub } from './hub-call.ts';

/** Saves a file that a tool has uploaded. Its signed URL is a download, which no page shows. */
export async function saveUpload(ref: { workspaceId: string; uploadId: string }): Promise<void> {
  const { downloadUrl, fileName } = await callHub('uploads', 'getDownloadUrl', ref);
  const link = document.createElement('a');
  link.href = downloadUrl;
  link.download = fileName;
  link.rel = 'noreferrer';
  link.click();
}
