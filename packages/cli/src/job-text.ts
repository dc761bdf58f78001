import type { Job, JobStatus, OutcomeReason } from '@signalbox/contract';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Styles } from './io.ts';

const icons: Readonly<Record<JobStatus, string>> = {
  pending: '○',
  running: '◐',
  done: '✔',
  failed: '✖',
  blocked: '◆',
  canceled: '⊘',
};

const colors: Readonly<Record<JobStatus, keyof Styles>> = {
  pending: 'dim',
  running: 'cyan',
  done: 'green',
  failed: 'red',
  blocked: 'yellow',
  canceled: 'dim',
};

/** Icon and word: neither the colour nor the icon alone says it. */
export function statusText(status: JobStatus): string {
  return `${icons[status]} ${status}`;
}

export function colorStatus(styles: Styles, status: JobStatus, text: string): string {
  return styles[colors[status]](text);
}

/** The end of an id, which is random: enough to tell one job from another. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Nothing more happens to the job unless a person acts. */
export function isAtRest(status: JobStatus): boolean {
  return status !== 'pending' && status !== 'running';
}

/** What waiting for a job means for the shell. */
export function exitCodeOf(status: JobStatus): ExitCode {
  if (status === 'done') return exitCodes.ok;
  if (status === 'blocked') return exitCodes.blocked;
  return status === 'canceled' ? exitCodes.canceled : exitCodes.failed;
}

/** Why a job ended as it did, in one text; null when nobody said. */
export function reasonText(reason: OutcomeReason | null): string | null {
  if (reason === null || typeof reason === 'string') return reason;
  const { summary, code, category } = reason;
  const label = code ?? category;
  if (summary === undefined) return label ?? null;
  return label === undefined ? summary : `${summary} (${label})`;
}

export function evidenceText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const { commitSha, changedFiles } = evidence ?? {};
  if (commitSha === undefined) return null;
  const count = changedFiles?.length ?? 0;
  return `commit ${commitSha}${count === 0 ? '' : `, ${count} file${count === 1 ? '' : 's'} changed`}`;
}
