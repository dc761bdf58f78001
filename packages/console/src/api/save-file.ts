import { endpointPaths } from 'virtual:contract-data';
import { callHub } from './hub-call.ts';
import { errorOfBody, HubError } from './hub-error.ts';
import type { LogRef } from './log-queries.ts';

/** Saves the whole log of an attempt. */
export async function saveLog(log: LogRef): Promise<void> {
  await saveAnswer(endpointPaths.jobs.downloadLog, log, `${log.jobId}-${log.attempt}.log`);
}

/** Saves the whole audit log of a workspace as JSON lines, which the hub sends while it reads. */
export async function saveAuditLog(workspaceId: string, slug: string): Promise<void> {
  await saveAnswer(endpointPaths.auditLog.export, { workspaceId }, `audit-${slug}.jsonl`);
}

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
  saveLink(downloadUrl, fileName);
}

/**
 * The browser keeps the bytes on disk, not the page. A break before the end fails the download
 * instead of leaving half a file.
 */
async function saveAnswer(path: string, request: object, fileName: string): Promise<void> {
  const breakOff = (cause: unknown) => {
    throw new HubError('UNREACHABLE', 'The download broke off. Try again.', { cause });
  };
  const response = await fetch(path, {
    method: 'POST',
    credentials: 'same-origin',
    redirect: 'error',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  }).catch(breakOff);
  if (!response.ok) {
    const failure = errorOfBody(await response.json().catch(() => undefined));
    throw failure ?? new HubError('ANSWER_UNREADABLE', `Received status ${response.status}.`);
  }
  const url = URL.createObjectURL(await response.blob().catch(breakOff));
  saveLink(url, fileName);
  URL.revokeObjectURL(url);
}

function saveLink(url: string, fileName: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.rel = 'noreferrer';
  link.click();
}
