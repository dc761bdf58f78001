import { endpointPaths } from 'virtual:contract-data';
import { errorOfBody, HubError } from './hub-error.ts';
import type { LogRef } from './log-queries.ts';

/** Saves the whole log as a file. The browser keeps the bytes on disk, not the page. */
export async function saveLog(log: LogRef): Promise<void> {
  const unreachable = (cause: unknown) =>
    new HubError('UNREACHABLE', 'The download broke off. Try again.', { cause });
  const response = await fetch(endpointPaths.jobs.downloadLog, {
    method: 'POST',
    credentials: 'same-origin',
    redirect: 'error',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(log),
  }).catch((error: unknown) => {
    throw unreachable(error);
  });
  if (!response.ok) {
    const failure = errorOfBody(await response.json().catch(() => undefined));
    throw failure ?? unreachable(response.status);
  }
  const bytes = await response.blob().catch((error: unknown) => {
    throw unreachable(error);
  });
  const url = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${log.jobId}-${log.attempt}.log`;
  link.click();
  URL.revokeObjectURL(url);
}
