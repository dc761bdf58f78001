import type { ListedJob } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { type MouseEvent, memo } from 'react';
import { classNames } from '../class-names.ts';
import {
  HAS_GAPS,
  kindWords,
  NO_CHANGES,
  shortWaitingWords,
  statusWords,
} from '../format/job-words.ts';
import { formatCost } from '../format/money.ts';
import { initialsOf, plainText } from '../format/text.ts';
import { formatAbsolute, formatDuration, formatRelative } from '../format/time.ts';
import { toolWords } from '../format/tool-words.ts';
import { StatusSign } from '../parts/status/status-badge.tsx';
import { RelativeTime, useNow } from '../parts/text/relative-time.tsx';

interface JobRowProps {
  job: ListedJob;
  slug: string;
  /** Undefined while the repositories are being read; empty for one without a label. */
  repositoryLabel: string | undefined;
  agentName: string | undefined;
  isCurrent: boolean;
  isSelected: boolean;
  /** Whether jobs are being selected, so that every row shows its box. */
  isSelecting: boolean;
  onSelect: (jobId: string, isRange: boolean) => void;
  onFocus: (jobId: string) => void;
}

/** One job in the list: a link over the whole row, with the box that selects it above. */
export const JobRow = memo(function JobRow(props: JobRowProps) {
  const { job, slug, isCurrent, isSelected, isSelecting, onSelect, onFocus } = props;
  const title = plainText(job.title) || job.jobId;
  const failure = job.failure === undefined ? undefined : plainText(job.failure);
  const selectOnShift = (event: MouseEvent) => {
    if (!event.shiftKey) return;
    event.preventDefault();
    onSelect(job.jobId, true);
  };
  return (
    <div
      className={classNames(
        'group relative flex min-h-row items-center gap-2 border-b px-3 py-1.5 sm:px-4 sm:py-0',
        isSelected ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
        failure !== undefined && 'sm:py-1',
        isCurrent && 'shadow-[inset_2px_0_0_var(--color-accent)]',
      )}
    >
      <label
        className={classNames(
          'relative z-1 -mx-2 size-8 shrink-0 place-items-center pointer-coarse:size-11',
          isSelecting ? 'grid' : 'hidden group-hover:grid pointer-coarse:hidden!',
        )}
      >
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isSelected}
          aria-label={`Select ${title}`}
          onClick={(event) => onSelect(job.jobId, event.shiftKey)}
          onChange={() => undefined}
          className="size-4 accent-accent-fill"
        />
      </label>
      <span
        className={classNames(
          'self-start pt-0.5 sm:self-auto sm:pt-0',
          !isSelecting && 'pointer-fine:group-hover:hidden',
        )}
      >
        <StatusSign status={job.status} changed={job.changed} verdict={job.verdict} />
      </span>
      <div
        className={classNames(
          'grid min-w-0 grow',
          failure === undefined && 'sm:flex sm:items-center sm:gap-3',
        )}
      >
        <Link
          to="/w/$slug/jobs/$jobId"
          params={{ slug, jobId: job.jobId }}
          data-job={job.jobId}
          title={title}
          onFocus={() => onFocus(job.jobId)}
          onClick={selectOnShift}
          className="block truncate after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent max-sm:leading-6 sm:shrink sm:grow-0"
        >
          {title}
        </Link>
        {failure !== undefined && (
          <p title={failure} className="line-clamp-2 text-xs text-danger sm:line-clamp-1">
            {failure}
          </p>
        )}
        {job.status !== 'pending' && <WaitingWords job={job} className="min-w-32 shrink-[4]" />}
        <PhoneLine {...props} />
      </div>
      <Columns {...props} />
    </div>
  );
});

/** The reason why a job waits, or what is special about it. */
function WaitingWords({ job, className }: { job: ListedJob; className: string }) {
  const words = useNow((nowMs) => waitingText(job, nowMs));
  if (words === undefined) return null;
  return (
    <span
      title={words}
      className={classNames('hidden truncate text-xs text-muted sm:inline', className)}
    >
      {words}
    </span>
  );
}

function waitingText(job: ListedJob, nowMs: number): string | undefined {
  if (job.status === 'blocked') {
    return job.waitingOnUncertaintyId === undefined ? undefined : 'Waits for an answer';
  }
  if (job.cancelRequestedAt !== undefined && job.status === 'running') return 'Is being canceled';
  if (job.status === 'done' && job.changed === false) return NO_CHANGES;
  if (job.verdict === 'gaps') return HAS_GAPS;
  if (job.waitingReason === undefined) return undefined;
  const reason =
    job.availableAt !== undefined && job.availableAt !== null
      ? `Starts ${formatRelative(job.availableAt, nowMs)}`
      : shortWaitingWords[job.waitingReason];
  return job.attempt > 0 ? `${reason} · attempt ${job.attempt + 1}` : reason;
}

/** The second line on phones. */
function PhoneLine({ job, repositoryLabel, agentName }: JobRowProps) {
  const waiting = useNow((nowMs) => waitingText(job, nowMs));
  const words = [
    waiting,
    plainText(repositoryLabel || job.repoId),
    waiting === undefined && agentName && plainText(agentName),
    toolWords(job),
    job.attempt > 1 && `attempt ${job.attempt}`,
    job.costUsd !== undefined && formatCost(job.costUsd),
  ].filter(Boolean);
  return (
    <p className="flex min-w-0 gap-2 text-xs text-muted sm:hidden">
      <span className="truncate">{words.join(' · ')}</span>
      {job.status === 'running' ? (
        <Duration job={job} className="ml-auto shrink-0" />
      ) : (
        <RelativeTime at={job.createdAt} className="ml-auto shrink-0 tabular-nums" />
      )}
    </p>
  );
}

const columnClasses = 'hidden shrink-0 truncate text-xs text-muted tabular-nums';

/** The columns at the right; narrow windows hide them from the left on. */
function Columns({ job, repositoryLabel, agentName }: JobRowProps) {
  const repository = plainText(repositoryLabel || job.repoId);
  return (
    <>
      <span
        className={`${columnClasses} w-28 lg:block`}
        title={`${repository}, ${kindWords[job.kind]}`}
      >
        {repository}
      </span>
      <Author by={job.createdBy} />
      {job.status === 'pending' ? (
        // A queued job has no agent, duration or cost yet; its reason to wait is shown there.
        <WaitingWords job={job} className="w-48 shrink-0 lg:w-72" />
      ) : (
        <AttemptColumns job={job} agentName={agentName} />
      )}
      <RelativeTime at={job.createdAt} className={`${columnClasses} w-16 text-right sm:block`} />
    </>
  );
}

/** Who enqueued the job: the initials of a person or a service. */
function Author({ by: { id, name } }: { by: ListedJob['createdBy'] }) {
  const words = plainText(name ?? (id.startsWith('agt_') ? 'An agent' : 'The hub'));
  return (
    <span className="hidden w-6 shrink-0 sm:block" title={`Enqueued by ${words}`}>
      <span className="sr-only">Enqueued by {words}</span>
      {name !== null && (
        <span
          aria-hidden="true"
          data-initials={initialsOf(words)}
          className="grid size-5 place-items-center rounded-full bg-well text-[0.625rem] font-medium text-muted before:content-[attr(data-initials)]"
        />
      )}
    </span>
  );
}

function AttemptColumns({ job, agentName }: Pick<JobRowProps, 'job' | 'agentName'>) {
  const worker = [agentName && plainText(agentName), toolWords(job)].filter(Boolean).join(' · ');
  return (
    <>
      <span className={`${columnClasses} w-36 lg:block`} title={worker}>
        {worker}
      </span>
      <span className={`${columnClasses} w-8 text-right md:block`}>
        {job.attempt > 1 && (
          <>
            <span className="sr-only">Attempt {job.attempt}</span>
            <span aria-hidden="true" title={`Attempt ${job.attempt}`}>
              ×{job.attempt}
            </span>
          </>
        )}
      </span>
      <Duration job={job} className={`${columnClasses} w-20 text-right sm:block`} />
      <span className={`${columnClasses} w-14 text-right sm:block`}>
        {job.costUsd !== undefined && formatCost(job.costUsd)}
      </span>
    </>
  );
}

/** How long the latest attempt took, or has run so far. */
function Duration({ job, className }: { job: ListedJob; className: string }) {
  const { status, startedAt, finishedAt } = job;
  const text = useNow((nowMs) => {
    if (!startedAt || status === 'pending') return '';
    const endMs = finishedAt ? Date.parse(finishedAt) : nowMs;
    return formatDuration(Math.max(0, endMs - Date.parse(startedAt)));
  });
  if (text === '') return <span className={className} />;
  return (
    <span
      className={className}
      title={startedAt ? `Started ${formatAbsolute(startedAt)}` : undefined}
    >
      <span className="sr-only">{statusWords[status]} for </span>
      {text}
    </span>
  );
}
