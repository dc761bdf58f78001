import type { Work } from '@signalbox/contract';
import { isFinished } from './job-words.ts';
import { plainText } from './text.ts';

/** The state of a piece of work as a person reads it: a work in review has three. */
export type WorkLook = 'open' | 'in_review' | 'approved' | 'landing' | 'landed' | 'closed';

export const workWords: Readonly<Record<WorkLook, string>> = {
  open: 'Open',
  in_review: 'In review',
  approved: 'Approved',
  landing: 'Landing',
  landed: 'Landed',
  closed: 'Closed',
};

export function workLookOf({ state, approval, landing }: Work): WorkLook {
  if (state !== 'in_review') return state;
  if (landing !== null && !isFinished(landing.status)) return 'landing';
  return approval === null ? 'in_review' : 'approved';
}

/** The conflicts with the base, as a landing or the agent of the latest round has found them. */
export interface Conflicts {
  /** Null: the agent has not named the branch. */
  into: string | null;
  files: readonly string[];
}

/** Of more files, the message names the first. */
const FILES_NAMED_MAX = 50;

/** The message of the round that resolves conflicts. */
export function rebaseMessage({ into, files }: Conflicts): string {
  const names = files.slice(0, FILES_NAMED_MAX).map(plainText);
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  const base = into === null ? 'the base branch' : plainText(into);
  return `Rebase onto ${base} and resolve the conflicts in ${names.join(', ')}${more}`;
}

/** The conflicts that keep a work from landing; null: none are known. */
export function conflictsOf(
  work: Work,
  evidence: { conflicts?: unknown } | null,
): Conflicts | null {
  // The evidence of an agent has any form.
  const { into, files } = Object(evidence?.conflicts) as Record<string, unknown>;
  const known = Array.isArray(files) ? files.filter((file) => typeof file === 'string') : [];
  const base = typeof into === 'string' && into !== '' ? into : null;
  if (work.landing?.status === 'failed' && work.landing.conflicts) return work.landing.conflicts;
  return known.length > 0 ? { into: base, files: known } : null;
}
