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

/** Icon and word, because neither colour nor icon is sufficient by itself. */
export function statusText(status: JobStatus): string {
  return `${icons[status]} ${status}`;
}

/** The status of a job that is done and changed nothing, although it was to change something. */
export const NO_CHANGES = `${icons.done} no changes`;

export function colorStatus(styles: Styles, status: JobStatus, text: string): string {
  return styles[colors[status]](text);
}

/** The last characters of an ID are random, so they distinguish jobs. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Whether the job's status changes only by an action of a person. */
export function isAtRest(status: JobStatus): boolean {
  return status !== 'pending' && status !== 'running';
}

/** The exit code of waiting for a job with this status. */
export function exitCodeOf(status: JobStatus): ExitCode {
  if (status === 'done') return exitCodes.ok;
  if (status === 'blocked') return exitCodes.blocked;
  return status === 'canceled' ? exitCodes.canceled : exitCodes.failed;
}

/** The reason of a job's outcome as text; null if there was none given. */
export function reasonText(reason: OutcomeReason | null): string | null {
  if (reason === null || typeof reason === 'string') return reason;
  const { summary, code, category } = reason;
  const label = code ?? category;
  if (summary === undefined) return label ?? null;
  return label === undefined ? summary : `${summary} (${label})`;
}

/** The evidence of a job as text; null if it has none. */
export function changeText(job: Pick<Job, 'evidence' | 'changed'>): string | null {
  return job.changed === false ? 'No changes: there is no commit.' : evidenceText(job);
}

export function evidenceText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const { commitSha, changedFiles } = evidence ?? {};
  if (commitSha === undefined) return null;
  const count = changedFiles?.length ?? 0;
  return `commit ${commitSha}${count === 0 ? '' : `, ${count} file${count === 1 ? '' : 's'} changed`}`;
}
