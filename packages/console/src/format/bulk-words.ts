import type { BulkAction, BulkResult } from '@signalbox/contract';
import { statusWords } from './job-words.ts';

const doneWords: Readonly<Record<BulkAction, string>> = {
  cancel: 'canceled',
  retry: 'back in the queue',
  release: 'released',
  set_priority: 'with the new priority',
};

/** The results of a bulk in words: `3 canceled, 1 was already done`. */
export function describeBulk(
  action: BulkAction,
  results: readonly BulkResult[],
): { title: string; detail?: string } {
  const parts: string[] = [];
  const changed = results.filter(({ result }) => result === 'changed');
  const stopping = action === 'cancel' ? changed.filter(({ status }) => status === 'running') : [];
  if (changed.length > stopping.length) {
    parts.push(`${changed.length - stopping.length} ${doneWords[action]}`);
  }
  if (stopping.length > 0) parts.push(`${stopping.length} asked to stop`);
  const same = results.filter(({ result }) => result === 'unchanged');
  if (same.length > 0) parts.push(`${same.length} unchanged`);
  const refusals = new Map<string, { count: number; message: string | undefined }>();
  for (const { result, error, status, message } of results) {
    if (result !== 'refused') continue;
    const reason = reasonOf(error, status);
    refusals.set(reason, { count: (refusals.get(reason)?.count ?? 0) + 1, message });
  }
  for (const [reason, { count }] of refusals) parts.push(`${count} ${wereOf(count)} ${reason}`);
  const title = parts.join(', ');
  const [only] = refusals.values();
  const detail = refusals.size === 1 ? only?.message : undefined;
  return detail === undefined ? { title } : { title, detail };
}

const wereOf = (count: number) => (count === 1 ? 'was' : 'were');

function reasonOf(error: string | undefined, status: BulkResult['status']): string {
  switch (error) {
    case 'JOB_NOT_FOUND':
      return 'not found';
    case 'CLAIM_GENERATION_MISMATCH':
      return 'claimed again meanwhile';
    case 'NOT_ALLOWED':
      return 'not allowed';
    case 'LIMIT_REACHED':
      return 'refused by a limit';
    default:
      return status === undefined ? 'refused' : `already ${statusWords[status].toLowerCase()}`;
  }
}
