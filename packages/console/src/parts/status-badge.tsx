import type { JobStatus } from '@signalbox/contract';
import { classNames } from '../class-names.ts';
import { statusWords } from '../format/job-words.ts';
import { Icon, type IconName } from './icon.tsx';

const looks: Readonly<Record<JobStatus, { icon: IconName; tone: string }>> = {
  pending: { icon: 'circle', tone: 'bg-pending-soft text-pending' },
  running: { icon: 'play', tone: 'bg-running-soft text-running' },
  done: { icon: 'checkCircle', tone: 'bg-done-soft text-done' },
  failed: { icon: 'crossCircle', tone: 'bg-failed-soft text-failed' },
  blocked: { icon: 'hand', tone: 'bg-blocked-soft text-blocked' },
  canceled: { icon: 'ban', tone: 'bg-canceled-soft text-canceled' },
};

/** The status of a job as icon, word and colour, never by colour alone. */
export function StatusBadge({ status, className }: { status: JobStatus; className?: string }) {
  const { icon, tone } = looks[status];
  return (
    <span
      className={classNames(
        'inline-flex h-6 items-center gap-1 rounded-full pr-2.5 pl-1.5 text-xs font-medium',
        tone,
        className,
      )}
    >
      <Icon name={icon} />
      {statusWords[status]}
    </span>
  );
}
