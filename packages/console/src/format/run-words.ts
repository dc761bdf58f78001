import type { JobCounts, ListedRun, Run, RunUsage } from '@signalbox/contract';
import { plainText } from './text.ts';

export function titleOfRun({ title, runRef }: Pick<Run, 'title' | 'runRef'>): string {
  return plainText(title || runRef);
}

/** A status or milestone as a person reads it: `in_progress` becomes `In progress`. */
export function openWord(value: string): string {
  const text = value.replaceAll(/[_-]+/g, ' ').trim();
  return text === '' ? value : text.charAt(0).toUpperCase() + text.slice(1);
}

const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const amounts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export function formatCost(costUsd: number): string {
  return costUsd > 0 && costUsd < 0.01 ? '< $0.01' : dollars.format(costUsd);
}

export function formatAmount(amount: number): string {
  return amounts.format(amount);
}

/** Which jobs a sum of costs is about. */
export function costNote({ jobs, jobsWithCost }: RunUsage): string {
  if (jobs === 0) return 'No job has reported its usage.';
  if (jobsWithCost === jobs) return `Reported by ${jobs === 1 ? '1 job' : `${jobs} jobs`}.`;
  return `${jobsWithCost} of ${jobs} jobs reported a cost.`;
}

const closedStatuses: ReadonlySet<string> = new Set(['done', 'failed', 'canceled']);

/** Whether a run has ended, by a status that the console knows. */
export function isClosedRun(status: string): boolean {
  return closedStatuses.has(status);
}

/** How many jobs of a run have not ended. */
export function unfinishedJobs({ pending, running, blocked }: JobCounts): number {
  return pending + running + blocked;
}

/** How many jobs of a run have ended, in words: `3 of 5, 1 failed`. */
export function progressOf({ jobCounts, isCut }: Pick<ListedRun, 'jobCounts' | 'isCut'>) {
  const { pending, running, blocked, done, failed, canceled } = jobCounts;
  const ended = done + failed + canceled;
  const total = ended + pending + running + blocked;
  const marks = [failed > 0 && `${failed} failed`, blocked > 0 && `${blocked} blocked`];
  const words = [`${ended} of ${total}${isCut ? '+' : ''}`, ...marks].filter(Boolean).join(', ');
  return { total, ended, failed, words };
}
