import type { Job } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classNames } from '../class-names.ts';
import { attemptWords } from '../format/job-words.ts';
import { formatCost } from '../format/run-words.ts';
import { formatDuration } from '../format/time.ts';
import { CopyButton } from '../parts/form/copy-button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { AgentLink, RunLink } from '../parts/record/record-links.tsx';
import { StatusBadge } from '../parts/status/status-badge.tsx';
import { useNow } from '../parts/text/relative-time.tsx';
import { JobActions } from './job-actions.tsx';

/** The end of an id, in which ids differ. */
const SHORT_ID_CHARS = 8;

interface JobHeaderProps {
  job: Job;
  title: string;
  slug: string;
  role: string;
  repositoryLabel: string;
}

/** Status, title and the right action of a job, in sight while the page scrolls. */
export function JobHeader({ job, title, slug, role, repositoryLabel }: JobHeaderProps) {
  return (
    <header className="top-0 z-[5] -mx-4 -mt-5 flex min-h-14 items-center gap-2 border-b bg-canvas px-4 max-md:top-12 max-sm:flex-wrap max-sm:py-2 sm:sticky sm:-mx-6 sm:h-14 sm:gap-3 sm:px-6 lg:-mx-8 lg:px-8">
      <Link
        to="/w/$slug/jobs"
        params={{ slug }}
        aria-label="All jobs"
        className="-ml-1.5 grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11"
      >
        <Icon name="arrow-left" />
      </Link>
      <p className="hidden shrink-0 items-center gap-1.5 text-sm text-muted lg:flex">
        <span className="max-w-48 truncate">{repositoryLabel}</span>
        <span aria-hidden="true">/</span>
        <ShortId jobId={job.jobId} />
      </p>
      {/* A live region, so that screen readers announce changes. */}
      <span role="status" aria-label="Status" className="inline-flex shrink-0 max-sm:mr-auto">
        <StatusBadge status={job.status} changed={job.changed} verdict={job.verdict} />
      </span>
      {/* A phone has room for it below. */}
      <h1
        className="min-w-0 grow text-base font-semibold max-sm:order-last max-sm:line-clamp-3 max-sm:basis-full max-sm:wrap-anywhere sm:truncate"
        title={title}
      >
        {title}
      </h1>
      <JobActions job={job} slug={slug} role={role} />
    </header>
  );
}

function ShortId({ jobId }: { jobId: string }) {
  return (
    <span className="inline-flex items-center">
      <code className="font-mono text-xs" title={jobId}>
        {jobId.slice(-SHORT_ID_CHARS)}
      </code>
      <CopyButton text={jobId} what="job ID" />
    </span>
  );
}

/** On wide screens the header has these. */
const inHeader: ReadonlySet<string> = new Set(['repository', 'job']);

interface JobMetaProps {
  job: Job;
  slug: string;
  repositoryLabel: string;
  agentName: string | null;
}

/** Where, by whom and for how long, in one line. */
export function JobMeta({ job, slug, repositoryLabel, agentName }: JobMetaProps) {
  const { attempt, createdAt, startedAt, finishedAt, usage } = job;
  const { workspaceId, runId, agentId } = job;
  const parts: (readonly [name: string, value: ReactNode])[] = [
    ['repository', repositoryLabel],
    ['job', <ShortId key="job" jobId={job.jobId} />],
    ['run', runId && <RunLink key="run" workspaceId={workspaceId} slug={slug} runId={runId} />],
    [
      'agent',
      agentId && agentName && (
        <AgentLink key="agent" slug={slug} name={agentName} agentId={agentId} />
      ),
    ],
    ['attempt', attempt > 0 && `attempt ${attemptWords(job)}`],
    // Of a later attempt, the time in the queue is not known.
    [
      'queued',
      attempt <= 1 && (
        <Lasting key="queued" word="queued" from={createdAt} to={startedAt ?? finishedAt} />
      ),
    ],
    [
      'ran',
      startedAt && job.status !== 'pending' && (
        <Lasting key="ran" word="ran" from={startedAt} to={finishedAt} />
      ),
    ],
    ['cost', usage?.costUsd !== undefined && formatCost(usage.costUsd)],
  ];
  return (
    // The sign before the first part of each line is outside the box.
    <div className="min-w-0 overflow-x-clip">
      <ul
        aria-label="In short"
        className="-ml-3.5 flex min-w-0 flex-wrap items-center gap-y-0.5 text-xs text-muted"
      >
        {parts
          .filter(([, value]) => Boolean(value))
          .map(([name, value]) => (
            <li
              key={name}
              className={classNames(
                'relative max-w-full truncate pl-3.5 before:absolute before:top-1/2 before:left-1',
                "before:-translate-y-1/2 before:text-faint before:content-['·']",
                inHeader.has(name) && 'lg:hidden',
              )}
            >
              {value}
            </li>
          ))}
      </ul>
    </div>
  );
}

/** A duration that counts until its end. */
function Lasting({ word, from, to }: { word: string; from: string; to: string | null }) {
  const text = useNow((nowMs) =>
    formatDuration(Math.max(0, (to === null ? nowMs : Date.parse(to)) - Date.parse(from))),
  );
  return (
    <span className="tabular-nums">
      {word} {text}
    </span>
  );
}
