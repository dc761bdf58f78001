import { endpointPaths } from 'virtual:contract-data';
import { errorOfBody, HubError } from './hub-error.ts';

/**
 * Saves the whole audit log of a workspace as a file of JSON lines. The hub sends it while it
 * reads; a break before the end fails the download instead of leaving half a file.
 */
export async function downloadAuditLog(workspaceId: string, slug: string): Promise<void> {
  const response = await fetch(endpointPaths.auditLog.export, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workspaceId }),
  }).catch((cause: unknown) => {
    throw new HubError('UNREACHABLE', 'The hub does not respond.', { cause });
  });
  if (!response.ok) {
    const failure = errorOfBody(await response.json().catch(() => undefined));
    throw failure ?? new HubError('ANSWER_UNREADABLE', `Received status ${response.status}.`, {});
  }
  const lines = await response.blob().catch((cause: unknown) => {
    throw new HubError('UNREACHABLE', 'The connection broke before the end. Try again.', { cause });
  });
  const address = URL.createObjectURL(lines);
  const link = document.createElement('a');
  link.href = address;
  link.download = `audit-${slug}.jsonl`;
  link.click();
  URL.revokeObjectURL(address);
}
