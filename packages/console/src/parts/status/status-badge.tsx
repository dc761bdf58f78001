import type { Job, JobStatus } from '@signalbox/contract';
import { classNames } from '../../class-names.ts';
import { HAS_GAPS, NO_CHANGES, statusWords } from '../../format/job-words.ts';
import { Icon, type IconName } from '../page/icon.tsx';

type Look = JobStatus | 'unchanged' | 'gaps';

const looks: Readonly<Record<Look, { icon: IconName; tone: string }>> = {
  pending: { icon: 'clock', tone: 'border border-line text-pending' },
  running: { icon: 'circle-play', tone: 'bg-running-soft text-running' },
  done: { icon: 'circle-check', tone: 'bg-done-soft text-done' },
  unchanged: { icon: 'circle-slash', tone: 'bg-canceled-soft text-canceled' },
  gaps: { icon: 'triangle-alert', tone: 'bg-warning-soft text-warning' },
  failed: { icon: 'circle-x', tone: 'bg-failed-soft text-failed' },
  blocked: { icon: 'circle-pause', tone: 'bg-attention-soft text-attention' },
  canceled: { icon: 'ban', tone: 'bg-canceled-soft text-canceled line-through' },
};

const signTones: Readonly<Record<Look, string>> = {
  pending: 'text-pending',
  running: 'text-running',
  done: 'text-done',
  unchanged: 'text-canceled',
  gaps: 'text-warning',
  failed: 'text-failed',
  blocked: 'text-attention',
  canceled: 'text-canceled',
};

/** The look of a status: a job that is done may lack a change, or a part of its proof. */
function lookOf({ status, changed, verdict }: StatusOfJob): Look {
  if (changed === false) return 'unchanged';
  return status === 'done' && verdict === 'gaps' ? 'gaps' : status;
}

const lookWords: Readonly<Record<Look, string>> = {
  ...statusWords,
  unchanged: NO_CHANGES,
  gaps: HAS_GAPS,
};

interface StatusOfJob {
  status: JobStatus;
  /** False: the job is done without a change that it was to make. */
  changed?: boolean | null | undefined;
  verdict?: Job['verdict'] | undefined;
}

/** The status of a job as an icon whose name is read out, for rows where a badge is too much. */
export function StatusSign(job: StatusOfJob) {
  const look = lookOf(job);
  const word = lookWords[look];
  return (
    <span role="img" aria-label={word} title={word} className="block size-4">
      <Icon name={looks[look].icon} className={signTones[look]} />
    </span>
  );
}

/** The icon of a status, for a line that names the status in words. */
export function statusIcon(job: StatusOfJob) {
  const look = lookOf(job);
  return { icon: looks[look].icon, tone: signTones[look] };
}

/** The status of a job as icon, word and colour, never by colour alone. */
export function StatusBadge({ className, ...job }: StatusOfJob & { className?: string }) {
  const look = lookOf(job);
  const { icon, tone } = looks[look];
  return (
    <span
      className={classNames(
        'inline-flex h-6 items-center gap-1 rounded-full pr-2.5 pl-1.5 text-xs font-medium whitespace-nowrap',
        tone,
        className,
      )}
    >
      <Icon name={icon} />
      {lookWords[look]}
    </span>
  );
}
