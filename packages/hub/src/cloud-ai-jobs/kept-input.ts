import type { CloudAiInput } from '@signalbox/contract';
import type { CloudAiJobRow } from './store.ts';

const forgotten: CloudAiInput = {
  messages: [{ role: 'user', content: '(Not kept: see the item that this was about.)' }],
};

/**
 * What is kept of a job's input once it has ended. The hub's own jobs hold copies of context items
 * and questions; those are subject to the data policy and its retention where they stand, so no
 * copy outlives its use.
 */
export function inputKeptOf(row: CloudAiJobRow): string {
  return row.subject_id === null ? row.input : JSON.stringify(forgotten);
}
