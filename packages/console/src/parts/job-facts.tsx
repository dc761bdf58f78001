import type { Job } from '@signalbox/contract';
import { kindWords } from '../format/job-words.ts';
import { plainText } from '../format/text.ts';
import { formatDuration } from '../format/time.ts';
import { Facts } from './facts.tsx';
import { JobLink } from './job-notes.tsx';
import { RelativeTime, useNow } from './relative-time.tsx';

interface JobFactsProps {
  job: Job;
  slug: string;
  repositoryLabel: string;
  agentName: string | null;
}

/** The known facts of a job, one per line; those that do not apply are skipped. */
export function JobFacts({ job, slug, repositoryLabel, agentName }: JobFactsProps) {
  return (
    <Facts
      rows={[
        ['Repository', repositoryLabel],
        ['Kind', kindWords[job.kind]],
        ['Role', plainText(job.role)],
        ['Priority', job.priority],
        ['Attempt', `${job.attempt} of ${job.maxAttempts}`],
        ['Agent', agentName],
        ['Lease ends', job.status === 'running' ? timeOf(job.leaseExpiresAt) : null],
        ['Cancel requested', timeOf(job.cancelRequestedAt)],
        ['Created', timeOf(job.createdAt)],
        ['Started', timeOf(job.startedAt)],
        ['Finished', timeOf(job.finishedAt)],
        ['Duration', job.startedAt && <Took key="took" from={job.startedAt} to={job.finishedAt} />],
        ['Concurrency', job.concurrencyKey && plainText(job.concurrencyKey)],
        ['Usage', usageText(job)],
        ['Parent', job.parentJobId && <JobLink key="parent" slug={slug} jobId={job.parentJobId} />],
        [
          'Depends on',
          job.dependsOn.length > 0 ? <JobLinks key="needs" slug={slug} job={job} /> : null,
        ],
      ]}
    />
  );
}

function timeOf(at: string | null) {
  return at && <RelativeTime key={at} at={at} />;
}

/** The time from start to end, or until now for a running job. */
function Took({ from, to }: { from: string; to: string | null }) {
  const text = useNow((nowMs) =>
    formatDuration(Math.max(0, (to === null ? nowMs : Date.parse(to)) - Date.parse(from))),
  );
  return <span className="tabular-nums">{text}</span>;
}

function JobLinks({ slug, job }: { slug: string; job: Job }) {
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)]">
      {job.dependsOn.map((jobId) => (
        <li key={jobId}>
          <JobLink slug={slug} jobId={jobId} />
        </li>
      ))}
    </ul>
  );
}

function usageText({ usage }: Job): string | null {
  if (usage === null) return null;
  const count = (tokens: number | undefined, word: string) =>
    tokens === undefined ? undefined : `${tokens.toLocaleString('en')} ${word}`;
  const parts = [
    usage.model && plainText(usage.model),
    count(usage.inputTokens, 'tokens in'),
    count(usage.outputTokens, 'tokens out'),
    usage.costUsd === undefined ? undefined : `${usage.costUsd.toFixed(2)} USD`,
  ];
  return parts.filter(Boolean).join(', ');
}
