import type { Work } from '@signalbox/contract';
import { oneLine } from '../terminal/text.ts';

/** The state of a piece of work in words, with what a person has to know of it. */
export function stateText({ state, approval, landing, landed }: Work): string {
  if (state === 'closed') return 'closed';
  if (state === 'landed') {
    if (landed === null) return 'landed';
    if (landed.pullRequestUrl !== null) return `pull request ${oneLine(landed.pullRequestUrl)}`;
    return `landed in ${oneLine(landed.into)}, as ${oneLine(landed.commitSha ?? '').slice(0, 12)}`;
  }
  if (state === 'open') return 'open';
  if (approval === null) return 'in review';
  const by = oneLine(approval.by.name ?? approval.by.id);
  const approved = `approved by ${by}`;
  if (landing === null) return approved;
  if (landing.status === 'failed') return `${approved}, but its landing failed`;
  return landing.status === 'canceled' ? approved : `${approved}, lands`;
}
