import type { ListedJob } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { kindWords } from '../format/job-words.ts';
import { plainText } from '../format/text.ts';
import { CopyButton } from './copy-button.tsx';
import { RelativeTime } from './relative-time.tsx';
import { StatusBadge } from './status-badge.tsx';

interface JobRowProps {
  job: ListedJob;
  slug: string;
  /** Undefined while the repositories are being read; empty for one without a label. */
  repositoryLabel: string | undefined;
}

/** One job in the list. The whole row is a link, with the copy button above it. */
export function JobRow({ job, slug, repositoryLabel }: JobRowProps) {
  return (
    <li className="relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 border-b px-3 py-2.5 last:border-b-0 hover:bg-hover sm:grid-cols-[6.5rem_minmax(0,1fr)_auto] sm:px-4">
      <StatusBadge status={job.status} changed={job.changed} className="justify-self-start" />
      <div className="order-last col-span-2 min-w-0 sm:order-none sm:col-span-1">
        <Link
          to="/w/$slug/jobs/$jobId"
          params={{ slug, jobId: job.jobId }}
          className="block truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {plainText(job.title) || job.jobId}
        </Link>
        <p className="flex min-w-0 gap-2 text-xs text-muted">
          <span className="shrink-0">{kindWords[job.kind]}</span>
          <span aria-hidden="true">·</span>
          <span className="truncate">{plainText(repositoryLabel || job.repoId)}</span>
          {job.attempt > 1 && (
            <>
              <span aria-hidden="true">·</span>
              <span className="shrink-0">attempt {job.attempt}</span>
            </>
          )}
        </p>
      </div>
      <div className="flex items-center gap-1 text-xs text-muted">
        <RelativeTime at={job.createdAt} className="relative tabular-nums" />
        <CopyButton text={job.jobId} what="job ID" className="relative" />
      </div>
    </li>
  );
}
