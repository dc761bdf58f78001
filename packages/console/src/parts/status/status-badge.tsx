import type { JobStatus } from '@signalbox/contract';
import { classNames } from '../../class-names.ts';
import { NO_CHANGES, statusWords } from '../../format/job-words.ts';
import { Icon, type IconName } from '../page/icon.tsx';

const looks: Readonly<Record<JobStatus | 'unchanged', { icon: IconName; tone: string }>> = {
  pending: { icon: 'clock', tone: 'border border-line text-pending' },
  running: { icon: 'circle-play', tone: 'bg-running-soft text-running' },
  done: { icon: 'circle-check', tone: 'bg-done-soft text-done' },
  unchanged: { icon: 'triangle-alert', tone: 'bg-warning-soft text-warning' },
  failed: { icon: 'circle-x', tone: 'bg-failed-soft text-failed' },
  blocked: { icon: 'circle-pause', tone: 'bg-attention-soft text-attention' },
  canceled: { icon: 'ban', tone: 'bg-canceled-soft text-canceled line-through' },
};

const signTones: Readonly<Record<JobStatus | 'unchanged', string>> = {
  pending: 'text-pending',
  running: 'text-running',
  done: 'text-done',
  unchanged: 'text-warning',
  failed: 'text-failed',
  blocked: 'text-attention',
  canceled: 'text-canceled',
};

/** The status of a job as an icon whose name is read out, for rows where a badge is too much. */
export function StatusSign({ status, changed }: Omit<StatusBadgeProps, 'className'>) {
  const word = changed === false ? NO_CHANGES : statusWords[status];
  const look = changed === false ? 'unchanged' : status;
  return (
    <span role="img" aria-label={word} title={word} className="block size-4">
      <Icon name={looks[look].icon} className={signTones[look]} />
    </span>
  );
}

/** The icon of a status, for a line that names the status in words. */
export function statusIcon(status: JobStatus, changed?: boolean | null) {
  const look = changed === false ? 'unchanged' : status;
  return { icon: looks[look].icon, tone: signTones[look] };
}

interface StatusBadgeProps {
  status: JobStatus;
  /** False: the job is done without a change that it was to make. */
  changed?: boolean | null | undefined;
  className?: string;
}

/** The status of a job as icon, word and colour, never by colour alone. */
export function StatusBadge({ status, changed, className }: StatusBadgeProps) {
  const { icon, tone } = changed === false ? looks.unchanged : looks[status];
  return (
    <span
      className={classNames(
        'inline-flex h-6 items-center gap-1 rounded-full pr-2.5 pl-1.5 text-xs font-medium whitespace-nowrap',
        tone,
        className,
      )}
    >
      <Icon name={icon} />
      {changed === false ? NO_CHANGES : statusWords[status]}
    </span>
  );
}
